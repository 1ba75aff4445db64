/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The programs of perftest, such as ib_send_bw, between two devices. Used by one thread. */
public final class PerfTest {
  private static final int TRIES = 100;
  private static final int RETRY_MILLIS = 100;

  private final Programs programs;
  private final Side server;
  private final Side client;

  /**
   * One end.
   *
   * @param processor the processor on which it runs
   * @param device such as "rxe0"
   * @param address of the device
   */
  public record Side(int processor, String device, String address) {}

  /** Creates the programs between two ends. */
  public PerfTest(Programs programs, Side server, Side client) {
    this.programs = programs;
    this.server = server;
    this.client = client;
  }

  /** A line of results: the numbers of its columns. */
  public record Result(List<Double> columns) {
    /** For a latency: the typical one in microseconds. For sends and writes it is one way. */
    public double typicalMicros() {
      return columns.get(4);
    }

    /** For a bandwidth: megabytes a second on average. */
    public double megabytes() {
      return columns.get(3);
    }

    /** For a bandwidth: messages a second. */
    public double messages() {
      return columns.get(4) * 1e6;
    }
  }

  /** The command as a user would write it. */
  public static String shown(String program, String arguments) {
    return program + " -x 1 " + arguments;
  }

  /** Runs both ends of a program. */
  public Result run(String program, String arguments) throws IOException, InterruptedException {
    String port = String.valueOf(LabCluster.freePort());
    programs.start("perftest", command(server, program, arguments, port));
    try {
      List<String> ask = command(client, program, arguments, port);
      ask.add(server.address);
      return parse(retry(ask));
    } finally {
      programs.stopLast();
    }
  }

  private static List<String> command(Side side, String program, String arguments, String port) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("taskset", "-c", String.valueOf(side.processor), program));
    command.addAll(List.of("-d", side.device, "-x", "1", "-F", "-p", port));
    command.addAll(List.of(arguments.split(" ")));
    return command;
  }

  /** The server does not report when it is ready, and a client that comes too early fails. */
  private String retry(List<String> ask) throws IOException, InterruptedException {
    for (int i = 1; ; i++) {
      try {
        return programs.run(ask);
      } catch (IOException e) {
        if (i == TRIES || programs.isClosed()) {
          throw e;
        }
        Thread.sleep(RETRY_MILLIS);
      }
    }
  }

  /** The last line that has only numbers. */
  public static Result parse(String text) {
    List<Double> last = List.of();
    for (String line : text.split("\n")) {
      List<Double> columns = numbers(line);
      if (columns.size() >= 5 && columns.stream().limit(5).allMatch(Double::isFinite)) {
        last = columns;
      }
    }
    if (last.isEmpty()) {
      throw new IllegalArgumentException("no results in: " + text);
    }
    return new Result(last);
  }

  private static List<Double> numbers(String line) {
    List<Double> columns = new ArrayList<>();
    for (String word : line.trim().split("\\s+")) {
      try {
        // The C library prints nan when rounding makes the variance negative.
        columns.add(word.endsWith("nan") ? Double.NaN : Double.valueOf(word));
      } catch (NumberFormatException e) {
        return List.of();
      }
    }
    return columns;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** One stream of iperf3 over loopback. Stateless. */
public final class Iperf {
  private static final int TRIES = 50;
  private static final int RETRY_MILLIS = 100;
  private static final List<String> OPTIONS = List.of("-l", "1M", "-t", "1", "-f", "m");

  private Iperf() {}

  /** Runs both ends for a second. Returns the received megabytes a second. */
  public static double megabytes(Programs programs) throws IOException, InterruptedException {
    String port = String.valueOf(LabCluster.freePort());
    Process server =
        programs.start("iperf3", List.of("iperf3", "-s", "-B", "127.0.0.1", "-p", port));
    try {
      List<String> client = List.of("iperf3", "-c", "127.0.0.1", "-p", port);
      return parse(retry(programs, client));
    } finally {
      programs.stop(server);
    }
  }

  /** The command as a user would write it. */
  public static String shown() {
    return "iperf3 -c 127.0.0.1 " + String.join(" ", OPTIONS);
  }

  /** The server does not report when it is ready, and a client that comes too early fails. */
  private static String retry(Programs programs, List<String> client)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(client);
    command.addAll(OPTIONS);
    for (int i = 1; ; i++) {
      try {
        return programs.run(command);
      } catch (IOException e) {
        if (i == TRIES || programs.isClosed()) {
          throw e;
        }
        Thread.sleep(RETRY_MILLIS);
      }
    }
  }

  /** The received megabytes a second in the output of iperf3. */
  public static double parse(String text) {
    for (String line : text.split("\n")) {
      if (line.contains("receiver")) {
        String[] words = line.trim().split("\\s+");
        for (int i = 1; i < words.length; i++) {
          if (words[i].equals("Mbits/sec")) {
            return Double.parseDouble(words[i - 1]) / Byte.SIZE;
          }
        }
      }
    }
    throw new IllegalArgumentException("no receiver in: " + text);
  }
}

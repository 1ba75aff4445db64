/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import io.crail.lab.figures.Samples;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A Redis server, and the commands of redis-benchmark that measure it. */
public final class Redis {
  private static final int BATCH = 1000;
  private static final int TIMEOUT_MILLIS = 10_000;
  private static final int KEY_DIGITS = 12;
  private static final String OK = "+OK\r\n";
  private static final double MICROS_PER_MILLI = 1e3;

  /** The key of redis-benchmark when it always uses the same key. */
  private static final String HOT_KEY = "key:__rand_int__";

  /** Longer arguments are not shown. */
  private static final int LONGEST_SHOWN = 100;

  /** Characters of the name of a script. */
  private static final int DIGEST_LENGTH = 40;

  private final int port;
  private final Process process;
  private final Account account;

  private Redis(int port, Process process, Account account) {
    this.port = port;
    this.process = process;
    this.account = account;
  }

  /**
   * A load.
   *
   * @param test "get" or "set"
   * @param keys the number of keys, chosen at random; 0 for the same key each time
   * @param valueLength bytes of a value
   * @param clients connections
   * @param pipeline commands in flight on each
   * @param count commands in all
   * @param threads of the client, among which the connections are divided
   * @param command the words of a command of its own; empty for the test
   */
  public record Load(
      String test,
      int keys,
      int valueLength,
      int clients,
      int pipeline,
      long count,
      int threads,
      List<String> command) {
    /** A load by a command of its own. */
    public Load(List<String> command, int clients, int pipeline, long count, int threads) {
      this("", 0, 0, clients, pipeline, count, threads, command);
    }

    /** A test. */
    public Load(
        String test,
        int keys,
        int valueLength,
        int clients,
        int pipeline,
        long count,
        int threads) {
      this(test, keys, valueLength, clients, pipeline, count, threads, List.of());
    }

    /** A load by one thread. */
    public Load(String test, int keys, int valueLength, int clients, int pipeline, long count) {
      this(test, keys, valueLength, clients, pipeline, count, 1);
    }

    /** The command as a user would write it. */
    public String shown() {
      return "redis-benchmark "
          + String.join(" ", arguments().stream().map(Load::shortened).toList());
    }

    private static String shortened(String word) {
      return word.length() <= LONGEST_SHOWN ? word : "<" + word.length() + " bytes>";
    }

    private List<String> arguments() {
      List<String> words = new ArrayList<>();
      words.addAll(List.of("-c", String.valueOf(clients), "-P", String.valueOf(pipeline)));
      if (threads > 1) {
        words.addAll(List.of("--threads", String.valueOf(threads)));
      }
      if (keys > 0) {
        words.addAll(List.of("-r", String.valueOf(keys)));
      }
      if (command.isEmpty()) {
        words.addAll(List.of("-d", String.valueOf(valueLength), "-n", String.valueOf(count)));
        words.addAll(List.of("-t", test, "--csv"));
      } else {
        words.addAll(List.of("-n", String.valueOf(count), "--csv"));
        words.addAll(command);
      }
      return words;
    }
  }

  /** Starts a server that keeps everything only in memory, as Crail does. */
  public static Redis start(Programs programs, int port) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("redis-server", "--port", "" + port));
    command.addAll(List.of("--bind", "127.0.0.1", "--save", "", "--appendonly", "no"));
    Redis redis = new Redis(port, programs.start("redis", command), programs.account());
    redis.connect().close();
    return redis;
  }

  /** The port on which it listens. */
  public int port() {
    return port;
  }

  /** Its process. */
  public Process process() {
    return process;
  }

  /**
   * Fills the server with the single key and with all random keys, with values of one length and
   * nothing else. Then checks that the server holds them.
   */
  public void fill(int keys, int valueLength) throws IOException, InterruptedException {
    String value = "x".repeat(valueLength);
    long begin = System.nanoTime();
    try (Socket socket = connect()) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      OutputStream out = new BufferedOutputStream(socket.getOutputStream());
      InputStream in = socket.getInputStream();
      out.write(command("FLUSHALL"));
      out.write(command("SET", HOT_KEY, value));
      int expected = 2;
      for (int i = 0; i < keys; i++) {
        out.write(command("SET", key(i), value));
        if (++expected == BATCH) {
          out.flush();
          expect(in, OK.repeat(expected));
          expected = 0;
        }
      }
      out.write(command("DBSIZE"));
      out.write(command("STRLEN", HOT_KEY));
      out.write(command("STRLEN", key(keys / 2)));
      out.flush();
      String length = ":" + valueLength + "\r\n";
      expect(in, OK.repeat(expected) + ":" + (keys + 1) + "\r\n" + length);
      expect(in, keys == 0 ? ":0\r\n" : length);
    }
    account.since(begin, "filling Redis");
  }

  /** Bytes of a string. */
  public long length(String key) throws IOException, InterruptedException {
    try (Socket socket = connect()) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      OutputStream out = socket.getOutputStream();
      out.write(command("STRLEN", key));
      out.write(command("QUIT"));
      String answers =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return Long.parseLong(answers.substring(1, answers.indexOf('\r')));
    }
  }

  /** Sets a field of a hash. */
  public void hash(String key, String field, String value)
      throws IOException, InterruptedException {
    try (Socket socket = connect()) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.getOutputStream().write(command("HSET", key, field, value));
      expect(socket.getInputStream(), ":1\r\n");
    }
  }

  /** Has the server keep a script, and returns the name by which commands call it. */
  public String load(String script) throws IOException, InterruptedException {
    try (Socket socket = connect()) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.getOutputStream().write(command("SCRIPT", "LOAD", script));
      String head = "$" + DIGEST_LENGTH + "\r\n";
      expect(socket.getInputStream(), head);
      return new String(
          socket.getInputStream().readNBytes(DIGEST_LENGTH), StandardCharsets.US_ASCII);
    }
  }

  /** Bytes that the server has allocated for its data. */
  public long usedBytes() throws IOException, InterruptedException {
    try (Socket socket = connect()) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      OutputStream out = socket.getOutputStream();
      out.write(command("INFO", "memory"));
      out.write(command("QUIT"));
      return usedBytes(
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
    }
  }

  /** Parses these bytes from the memory section of the server's INFO. */
  public static long usedBytes(String info) {
    return (long) Samples.number(info, "used_memory");
  }

  private static String key(int index) {
    // As redis-benchmark writes them. A formatter would take longer than the server.
    String digits = String.valueOf(index);
    return "key:" + "0".repeat(KEY_DIGITS - digits.length()) + digits;
  }

  private static void expect(InputStream in, String answers) throws IOException {
    String got = new String(in.readNBytes(answers.length()), StandardCharsets.US_ASCII);
    if (!got.equals(answers)) {
      throw new IOException("redis does not hold what it was given: " + got.strip());
    }
  }

  private Socket connect() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TIMEOUT_MILLIS * 1_000_000L;
    while (true) {
      try {
        return new Socket(InetAddress.getLoopbackAddress(), port);
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        Thread.sleep(20);
      }
    }
  }

  /** A command in Redis' protocol. */
  public static byte[] command(String... words) {
    StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    return text.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** The command that measures a load. */
  public List<String> command(Load load) {
    List<String> command = new ArrayList<>(List.of("redis-benchmark", "-p", "" + port));
    command.addAll(load.arguments());
    return command;
  }

  /**
   * The figures of that command.
   *
   * @param perSecond operations a second
   * @param p50Micros median latency
   * @param p99Micros the latency that one operation in a hundred exceeds
   */
  public record Result(double perSecond, double p50Micros, double p99Micros) {}

  /** Parses the output of that command, whose columns have names. */
  public static Result parse(String csv) {
    List<String> head = List.of();
    for (String line : csv.split("\n")) {
      List<String> cells = Arrays.asList(line.replace("\"", "").split(","));
      if (cells.contains("rps")) {
        head = cells;
      } else if (cells.size() == head.size() && head.size() > 1) {
        return new Result(
            number(head, cells, "rps"),
            number(head, cells, "p50_latency_ms") * MICROS_PER_MILLI,
            number(head, cells, "p99_latency_ms") * MICROS_PER_MILLI);
      }
    }
    throw new IllegalArgumentException("no results in: " + csv);
  }

  private static double number(List<String> head, List<String> cells, String name) {
    int at = head.indexOf(name);
    if (at < 0) {
      throw new IllegalArgumentException("no column " + name + " in: " + head);
    }
    return Double.parseDouble(cells.get(at));
  }
}

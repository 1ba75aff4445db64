/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** A Redis server with all the keys that redis-benchmark asks for. */
final class Redis {
  private static final int BATCH = 1000;
  private static final int TIMEOUT_MILLIS = 10_000;
  private static final String OK = "+OK\r\n";

  private final int port;

  private Redis(int port) {
    this.port = port;
  }

  /** Starts a server and fills it with {@code keys} values of {@code valueLength} bytes. */
  static Redis start(Programs programs, int port, int keys, int valueLength)
      throws IOException, InterruptedException {
    programs.start(
        "redis",
        List.of(
            "redis-server",
            "--port",
            String.valueOf(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no"));
    Redis redis = new Redis(port);
    redis.fill(keys, valueLength);
    return redis;
  }

  private void fill(int keys, int valueLength) throws IOException, InterruptedException {
    String value = "x".repeat(valueLength);
    try (Socket socket = connect()) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      OutputStream out = new BufferedOutputStream(socket.getOutputStream());
      InputStream in = socket.getInputStream();
      for (int from = 0; from < keys; from += BATCH) {
        int to = Math.min(keys, from + BATCH);
        for (int i = from; i < to; i++) {
          out.write(set(String.format(Locale.ROOT, "key:%012d", i), value));
        }
        out.flush();
        byte[] answers = in.readNBytes((to - from) * OK.length());
        if (!new String(answers, StandardCharsets.US_ASCII).equals(OK.repeat(to - from))) {
          throw new IOException("redis refused a key");
        }
      }
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

  /** The bytes of a SET command. */
  static byte[] set(String key, String value) {
    String text =
        "*3\r\n$3\r\nSET\r\n$"
            + key.length()
            + "\r\n"
            + key
            + "\r\n$"
            + value.length()
            + "\r\n"
            + value
            + "\r\n";
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** The command that measures GETs of random keys. */
  List<String> getCommand(int keys, int pipeline, long count) {
    return List.of(
        "redis-benchmark",
        "-p",
        String.valueOf(port),
        "-c",
        "1",
        "-P",
        String.valueOf(pipeline),
        "-r",
        String.valueOf(keys),
        "-d",
        "64",
        "-n",
        String.valueOf(count),
        "-t",
        "get",
        "--csv");
  }

  /** Operations a second in what that command printed. */
  static double rate(String csv) {
    for (String line : csv.split("\n")) {
      if (line.startsWith("\"GET\"")) {
        return Double.parseDouble(line.split(",")[1].replace("\"", ""));
      }
    }
    throw new IllegalArgumentException("no GET in: " + csv);
  }
}

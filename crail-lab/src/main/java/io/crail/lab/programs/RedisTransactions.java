/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/**
 * Guarded appends to one string of Redis by its optimistic transactions, which redis-benchmark
 * cannot do since it does not look at answers. Each client is a thread with a connection:
 *
 * <pre>
 * WATCH state, HGET state epoch      in one round trip
 * MULTI, APPEND key bytes, EXEC      in a second one
 * </pre>
 *
 * Only the epoch is a guard, as it is with Crail. An EXEC that gives nothing is tried again, from
 * the WATCH on. Each client begins the string anew by a SET now and then, so that it stays short.
 *
 * <pre>
 * RedisTransactions port key epoch bytes period clients warmUp count
 * </pre>
 *
 * The period is the number of appends of which one is a SET.
 *
 * <p>It prints {@code rate <per second> p50 <us> p99 <us> retries <per append>}.
 */
public final class RedisTransactions {
  private static final int TIMEOUT_MILLIS = 60_000;
  private static final long HIGHEST_NANOS = 60_000_000_000L;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MICRO = 1e3;
  private static final int END = '\n';

  private final Socket socket;
  private final InputStream in;
  private final byte[] look;
  private final byte[] append;
  private final byte[] anew;
  private final long epoch;
  private final long period;
  private final Histogram latencies = new Histogram(HIGHEST_NANOS, 3);
  private long retries;
  private long done;

  private RedisTransactions(int port, String key, long epoch, int bytes, long period)
      throws IOException {
    this.epoch = epoch;
    this.period = period;
    String state = key + ".state";
    String value = "x".repeat(bytes);
    look = joined(Redis.command("WATCH", state), Redis.command("HGET", state, "epoch"));
    append =
        joined(Redis.command("MULTI"), Redis.command("APPEND", key, value), Redis.command("EXEC"));
    anew = joined(Redis.command("MULTI"), Redis.command("SET", key, value), Redis.command("EXEC"));
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    in = new BufferedInputStream(socket.getInputStream());
  }

  private static byte[] joined(byte[]... commands) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] command : commands) {
      all.write(command);
    }
    return all.toByteArray();
  }

  /** Runs all clients, as the class comment says. */
  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[5]);
    List<RedisTransactions> clients = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      clients.add(
          new RedisTransactions(
              Integer.parseInt(args[0]),
              args[1],
              Long.parseLong(args[2]),
              Integer.parseInt(args[3]),
              Long.parseLong(args[4])));
    }
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      run(threads, clients, Long.parseLong(args[6]) / count);
      long each = Long.parseLong(args[7]) / count;
      long begin = System.nanoTime();
      run(threads, clients, each);
      long nanos = System.nanoTime() - begin;
      Histogram all = new Histogram(HIGHEST_NANOS, 3);
      long retries = 0;
      for (RedisTransactions client : clients) {
        all.add(client.latencies);
        retries += client.retries;
        client.socket.close();
      }
      System.out.println(
          String.format(
              Locale.ROOT,
              "rate %.0f p50 %.2f p99 %.2f retries %.2f",
              each * count * NANOS_PER_SECOND / nanos,
              all.getValueAtPercentile(50) / NANOS_PER_MICRO,
              all.getValueAtPercentile(99) / NANOS_PER_MICRO,
              (double) retries / (each * count)));
    } finally {
      threads.shutdownNow();
    }
  }

  private static void run(ExecutorService threads, List<RedisTransactions> clients, long each)
      throws InterruptedException, ExecutionException {
    List<Future<?>> running = new ArrayList<>();
    for (RedisTransactions client : clients) {
      running.add(
          threads.submit(
              () -> {
                client.latencies.reset();
                client.retries = 0;
                for (long i = 0; i < each; i++) {
                  long begin = System.nanoTime();
                  client.append();
                  client.latencies.recordValue(System.nanoTime() - begin);
                }
                return null;
              }));
    }
    for (Future<?> one : running) {
      one.get();
    }
  }

  /** One append. */
  private void append() throws IOException {
    while (true) {
      socket.getOutputStream().write(look);
      expect("+OK");
      readLine();
      if (Long.parseLong(readLine()) > epoch) {
        throw new IOException("the object is sealed");
      }
      boolean isAnew = done % period == 0;
      socket.getOutputStream().write(isAnew ? anew : append);
      expect("+OK");
      expect("+QUEUED");
      if (readLine().equals("*1")) {
        String answer = readLine();
        if (answer.startsWith("-")) {
          throw new IOException("Redis answers " + answer);
        }
        done++;
        return;
      }
      retries++;
    }
  }

  private void expect(String answer) throws IOException {
    String got = readLine();
    if (!got.equals(answer)) {
      throw new IOException("Redis answers " + got + ", not " + answer);
    }
  }

  private String readLine() throws IOException {
    StringBuilder line = new StringBuilder();
    int next = in.read();
    while (next != END) {
      if (next < 0) {
        throw new EOFException("Redis has closed the connection");
      }
      line.append((char) next);
      next = in.read();
    }
    return line.substring(0, line.length() - 1);
  }
}

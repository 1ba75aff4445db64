/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.limits;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * Messages of fixed sizes over loopback TCP, without any processing: the lower bound for a request
 * and its answer on this machine.
 *
 * <pre>
 * LoopbackEcho server blocking|selector|spin requestBytes responseBytes
 * LoopbackEcho client blocking|selector|spin requestBytes responseBytes port depth warmUp count
 * </pre>
 *
 * The server prints {@code port <number>} and serves one connection after the other until it is
 * ended. The client prints {@code rate <per second> p50 <us> p99 <us>}.
 */
public final class LoopbackEcho {
  private static final int BUFFER_LENGTH = 64 * 1024;
  private static final long HIGHEST_NANOS = 60_000_000_000L;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MICRO = 1e3;

  private final WaitMode mode;
  private final int requestLength;
  private final int responseLength;

  /**
   * Creates an end.
   *
   * @param mode how it waits
   * @param requestLength bytes of a request
   * @param responseLength bytes of an answer
   */
  LoopbackEcho(WaitMode mode, int requestLength, int responseLength) {
    if (requestLength < 1
        || responseLength < 1
        || Math.max(requestLength, responseLength) > BUFFER_LENGTH / 2) {
      throw new IllegalArgumentException("messages of 1 to " + BUFFER_LENGTH / 2 + " bytes");
    }
    this.mode = mode;
    this.requestLength = requestLength;
    this.responseLength = responseLength;
  }

  /** Runs one end, as the class comment says. */
  public static void main(String[] args) throws IOException {
    LoopbackEcho end =
        new LoopbackEcho(
            WaitMode.valueOf(args[1].toUpperCase(Locale.ROOT)),
            Integer.parseInt(args[2]),
            Integer.parseInt(args[3]));
    if (args[0].equals("server")) {
      try (ServerSocketChannel listener = listen()) {
        System.out.println("port " + portOf(listener));
        while (true) {
          end.serveOne(listener);
        }
      }
    }
    Result result =
        end.measure(
            Integer.parseInt(args[4]),
            Integer.parseInt(args[5]),
            Long.parseLong(args[6]),
            Long.parseLong(args[7]));
    System.out.println(
        String.format(
            Locale.ROOT,
            "rate %.0f p50 %.2f p99 %.2f",
            result.perSecond,
            result.p50Micros,
            result.p99Micros));
  }

  /**
   * The figures of a client.
   *
   * @param perSecond answers a second
   * @param p50Micros median time from request to answer
   * @param p99Micros the time that one request in a hundred exceeds
   */
  record Result(double perSecond, double p50Micros, double p99Micros) {}

  /** Listens on a free port of the loopback interface. */
  static ServerSocketChannel listen() throws IOException {
    ServerSocketChannel listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    return listener;
  }

  /** The port of a listener. */
  static int portOf(ServerSocketChannel listener) throws IOException {
    return ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }

  /** Serves one connection until it ends. */
  void serveOne(ServerSocketChannel listener) throws IOException {
    try (SocketChannel channel = listener.accept()) {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_LENGTH);
      ByteBuffer out =
          ByteBuffer.allocateDirect(
              BUFFER_LENGTH / requestLength * responseLength + responseLength);
      long pending = 0;
      try (WaitMode.Reader reader = mode.reader(channel)) {
        while (reader.read(in.clear()) >= 0) {
          pending += in.position();
          int answers = (int) (pending / requestLength);
          pending -= (long) answers * requestLength;
          send(channel, out, answers * responseLength);
        }
      }
    }
  }

  /** Keeps {@code depth} requests in flight. */
  Result measure(int port, int depth, long warmUp, long count) throws IOException {
    try (SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      ByteBuffer out = ByteBuffer.allocateDirect(depth * requestLength);
      ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_LENGTH);
      Histogram latencies = new Histogram(HIGHEST_NANOS, 3);
      try (WaitMode.Reader reader = mode.reader(channel)) {
        exchange(channel, reader, out, in, depth, warmUp, latencies);
        latencies.reset();
        long begin = System.nanoTime();
        exchange(channel, reader, out, in, depth, count, latencies);
        long nanos = System.nanoTime() - begin;
        return new Result(
            count * NANOS_PER_SECOND / nanos,
            latencies.getValueAtPercentile(50) / NANOS_PER_MICRO,
            latencies.getValueAtPercentile(99) / NANOS_PER_MICRO);
      }
    }
  }

  private void exchange(
      SocketChannel channel,
      WaitMode.Reader reader,
      ByteBuffer out,
      ByteBuffer in,
      int depth,
      long count,
      Histogram latencies)
      throws IOException {
    long[] issuedNanos = new long[depth];
    long issued = 0;
    long completed = 0;
    long pending = 0;
    long now = System.nanoTime();
    while (completed < count) {
      int fresh = (int) Math.min(count - issued, depth - (issued - completed));
      for (int i = 0; i < fresh; i++) {
        issuedNanos[(int) ((issued + i) % depth)] = now;
      }
      issued += fresh;
      send(channel, out, fresh * requestLength);
      if (reader.read(in.clear()) < 0) {
        throw new IOException("the server has closed the connection");
      }
      now = System.nanoTime();
      pending += in.position();
      for (; pending >= responseLength; pending -= responseLength) {
        latencies.recordValue(now - issuedNanos[(int) (completed % depth)]);
        completed++;
      }
    }
  }

  private static void send(SocketChannel channel, ByteBuffer out, int length) throws IOException {
    out.clear().limit(length);
    while (out.hasRemaining()) {
      channel.write(out);
    }
  }
}

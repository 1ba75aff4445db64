/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.limits;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * One stream over loopback TCP, without any processing of its bytes. Either end uses one buffer
 * again and again, which stays in a cache; or it walks through a mapped file, as a datanode does.
 * The difference is the cost of the memory.
 *
 * <pre>
 * LoopbackStream directory|file regionBytes pieceBytes cached|into|from...
 * </pre>
 *
 * Prints a line for each way: {@code cached <MB/s>} from buffer to buffer, {@code into <MB/s>} the
 * file, {@code from <MB/s>} the file. All memory is touched before.
 */
public final class LoopbackStream {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MEGA = 1e6;

  /** Rounds that do not count, until code is compiled and TCP has opened its window. */
  private static final int WARM_UP = 3;

  private static final int ROUNDS = 5;

  private final ByteBuffer from;
  private final ByteBuffer to;
  private final int pieceLength;

  /**
   * Creates a stream.
   *
   * @param from the bytes to send, from beginning to end, again and again
   * @param to the memory for them, used in the same way
   * @param pieceLength most bytes that are sent or received at once; the length of both buffers is
   *     a multiple of it
   */
  LoopbackStream(ByteBuffer from, ByteBuffer to, int pieceLength) {
    if (from.capacity() % pieceLength != 0 || to.capacity() % pieceLength != 0) {
      throw new IllegalArgumentException("the memory must be a multiple of the piece length");
    }
    this.from = from;
    this.to = to;
    this.pieceLength = pieceLength;
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int regionLength = Integer.parseInt(args[1]);
    int pieceLength = Integer.parseInt(args[2]);
    ByteBuffer region = MappedMemory.map(Path.of(args[0]), regionLength);
    for (String way : Arrays.copyOfRange(args, 3, args.length)) {
      ByteBuffer from = ByteBuffer.allocateDirect(pieceLength);
      ByteBuffer to = ByteBuffer.allocateDirect(pieceLength);
      LoopbackStream stream =
          switch (way) {
            case "cached" -> new LoopbackStream(from, to, pieceLength);
            case "into" -> new LoopbackStream(from, region, pieceLength);
            case "from" -> new LoopbackStream(region, to, pieceLength);
            default -> throw new IllegalArgumentException(way + " is none of cached, into, from");
          };
      double rate = stream.bytesPerSecond(regionLength, WARM_UP, ROUNDS);
      System.out.println(String.format(Locale.ROOT, "%s %.0f", way, rate / MEGA));
    }
  }

  /**
   * Moves bytes over one connection.
   *
   * @param roundLength bytes of a round
   * @param warmUp rounds that do not count
   * @param rounds measured rounds
   * @return bytes a second received in the median round
   */
  double bytesPerSecond(long roundLength, int warmUp, int rounds)
      throws IOException, InterruptedException {
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (SocketChannel out = SocketChannel.open(listener.getLocalAddress());
          SocketChannel in = listener.accept()) {
        CompletableFuture<Void> sent = new CompletableFuture<>();
        Thread sender =
            new Thread(() -> send(out, roundLength * (warmUp + rounds), sent), "sender");
        sender.setDaemon(true);
        sender.start();
        double[] rates = new double[warmUp + rounds];
        for (int i = 0; i < rates.length; i++) {
          long begin = System.nanoTime();
          receive(in, i * roundLength, roundLength, sent);
          rates[i] = roundLength * NANOS_PER_SECOND / Math.max(1, System.nanoTime() - begin);
        }
        await(sent);
        double[] counted = Arrays.copyOfRange(rates, warmUp, rates.length);
        Arrays.sort(counted);
        return counted[counted.length / 2];
      }
    }
  }

  /**
   * Sends all bytes. After an error it closes the channel, so that the other end does not wait for
   * more.
   */
  private void send(SocketChannel channel, long length, CompletableFuture<Void> sent) {
    try (channel) {
      for (long done = 0; done < length; ) {
        done += channel.write(piece(from, done, length - done));
      }
      sent.complete(null);
    } catch (IOException | RuntimeException e) {
      sent.completeExceptionally(e);
    }
  }

  private void receive(SocketChannel channel, long first, long length, CompletableFuture<Void> sent)
      throws IOException, InterruptedException {
    for (long done = 0; done < length; ) {
      int received = channel.read(piece(to, first + done, length - done));
      if (received < 0) {
        await(sent);
        throw new IOException("the connection has ended before its bytes");
      }
      done += received;
    }
  }

  /** The rest of the piece at a position of the stream. */
  private ByteBuffer piece(ByteBuffer memory, long position, long left) {
    int begin = (int) (position % memory.capacity());
    int length = (int) Math.min(left, pieceLength - begin % pieceLength);
    return memory.limit(begin + length).position(begin);
  }

  private static void await(CompletableFuture<Void> sent) throws IOException, InterruptedException {
    try {
      sent.get();
    } catch (ExecutionException e) {
      throw new IOException("the sender has failed", e.getCause());
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

/**
 * Another address of a server. It forwards what arrives there, and can lose requests and answers:
 * it cannot be known then whether the server has executed a request. Thread-safe.
 */
public final class BreakingRelay implements AutoCloseable {
  /** One of this many pieces ends its connection in place of being forwarded. */
  private static final int LOST = 12;

  private static final int BUFFER = 64 << 10;
  private static final int CONNECT_MILLIS = 5000;
  private static final int BACKLOG = 200;
  private static final long HOLD_POLL_MILLIS = 10;

  /** Longer than the leases and the deadlines of these tests. */
  private static final long AWAY_MILLIS = 3000;

  /** What the relay does. */
  public enum Mode {
    /** It forwards everything. */
    FORWARD,
    /** It ends connections at random, and loses what they were to forward. */
    BREAK,
    /** It ends all connections, also new ones. */
    CUT,
    /**
     * It keeps what arrives on the present connections, and forwards it late, even if the client
     * has gone by then. New connections work, but not in the first {@link #AWAY_MILLIS}.
     */
    HOLD,
    /** It forwards requests, and keeps the answers on the present connections. */
    MUTE
  }

  private final ServerSocket listener =
      new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Set<Socket> held = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final InetSocketAddress server;
  private volatile Mode mode = Mode.FORWARD;
  private volatile long modeNanos;
  private volatile Predicate<ByteBuffer> unanswered = piece -> false;
  private volatile Mode modeAfterLoss = Mode.FORWARD;

  /** Begins to forward to a server. */
  public BreakingRelay(InetSocketAddress server) throws IOException {
    this.server = server;
    threads.submit(this::accept);
  }

  /** {@return its own port, on the loopback address} */
  public int port() {
    return listener.getLocalPort();
  }

  /** Changes what it does from now on. */
  public void mode(Mode next) throws IOException {
    modeNanos = System.nanoTime();
    mode = next;
    if (next == Mode.HOLD || next == Mode.MUTE) {
      // Not both ends: an answer to a client that has gone would end the connection.
      boolean clients = next == Mode.HOLD;
      sockets.stream()
          .filter(each -> (each.getLocalPort() == port()) == clients)
          .forEach(held::add);
    } else {
      held.clear();
    }
    if (next == Mode.CUT) {
      for (Socket each : sockets) {
        each.close();
      }
    }
  }

  /**
   * Loses the answer to some requests: the server executes them, and the connection ends when it
   * answers.
   *
   * @param requests whether such a request is in a piece that comes from a client
   * @param next what the relay does from then on
   */
  public void loseAnswers(Predicate<ByteBuffer> requests, Mode next) {
    modeAfterLoss = next;
    unanswered = requests;
  }

  private Void accept() throws IOException {
    while (true) {
      Socket client;
      try {
        client = listener.accept();
      } catch (IOException e) {
        if (!listener.isClosed()) {
          // Otherwise each later fault would look like a namenode that is down.
          System.err.println("the relay to " + server + " has ended: " + e);
        }
        throw e;
      }
      threads.submit(() -> connect(client));
    }
  }

  private Void connect(Socket client) throws IOException, InterruptedException {
    Socket target = new Socket();
    sockets.add(client);
    sockets.add(target);
    try {
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - modeNanos);
      if (mode == Mode.CUT || (mode == Mode.HOLD && millis < AWAY_MILLIS)) {
        throw new IOException("cut");
      }
      target.connect(server, CONNECT_MILLIS);
      client.setTcpNoDelay(true);
      target.setTcpNoDelay(true);
    } catch (IOException e) {
      end(client, target);
      return null;
    }
    AtomicBoolean loses = new AtomicBoolean();
    threads.submit(() -> forward(target, client, piece -> loses.get()));
    forward(
        client,
        target,
        piece -> {
          // Before the server gets it, and so before its answer.
          loses.compareAndSet(false, unanswered.test(piece));
          return false;
        });
    return null;
  }

  /** Forwards until an end has gone, or a piece is lost. */
  private Void forward(Socket from, Socket to, Predicate<ByteBuffer> loss)
      throws IOException, InterruptedException {
    byte[] buffer = new byte[BUFFER];
    try {
      for (int count = 0; count >= 0; count = from.getInputStream().read(buffer)) {
        while (held.contains(from)) {
          TimeUnit.MILLISECONDS.sleep(HOLD_POLL_MILLIS);
        }
        boolean lost = mode == Mode.BREAK && ThreadLocalRandom.current().nextInt(LOST) == 0;
        // Whichever comes last sees the other: a connection, or the cut.
        if (mode == Mode.CUT || (lost && count > 0)) {
          break;
        }
        if (loss.test(ByteBuffer.wrap(buffer, 0, count)) && count > 0) {
          unanswered = piece -> false;
          mode(modeAfterLoss);
          break;
        }
        to.getOutputStream().write(buffer, 0, count);
      }
    } catch (IOException e) {
      // An end has gone.
    } finally {
      end(from, to);
    }
    return null;
  }

  private void end(Socket one, Socket other) throws IOException {
    sockets.remove(one);
    sockets.remove(other);
    one.close();
    other.close();
  }

  @Override
  public void close() throws Exception {
    listener.close();
    mode(Mode.CUT);
    threads.shutdown();
    if (!threads.awaitTermination(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("a connection does not end");
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Clock;
import io.crail.common.Threads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has connections to other peers made anew after the network was cut off. Ratis keeps them, and
 * what waits in one is sent again ever more rarely: only when the network was back for as long as
 * it was away, up to two minutes. Until then such a peer would be missing, and without another one
 * there would be no majority.
 *
 * <p>The one that leads looks whether a peer that is silent can be reached. Such a peer may be busy
 * with the files that it gets, and that must not be cut short. So a connection is dropped only when
 * its peer could not be reached, and can be again. A peer that knows none that leads has nothing
 * under way but votes, and drops all.
 */
final class Reconnections implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Reconnections.class);
  private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int CONNECT_MILLIS = 1_000;

  /** So many times the shortest election without a leader, the first elections have failed. */
  private static final int LEADERLESS = 4;

  private final Peers raft;
  private final int index;
  private final int peer;
  private final List<InetSocketAddress> addresses;
  private final Clock clock;
  private final long silentMillis;
  private final ExecutorService thread;
  private final AtomicBoolean isLooking = new AtomicBoolean();

  // Of the thread that ticks.
  private long lookedNanos;
  private long ledNanos;

  // Of the own thread.
  private final boolean[] isCutOff;

  /** The peers, as this one knows them. */
  interface Peers {
    /** Whether this peer knows one that leads, which may be this one. */
    boolean hasLeader();

    /** Whether this peer leads. */
    boolean leads();

    /** Whether a peer counts, or is to. */
    boolean counts(int peer);

    /** Milliseconds since this one, which leads, has heard of a peer. */
    long silentMillis(int peer);

    /**
     * Drops the connection to a peer that counts, so that the next message makes another one. That
     * may take some seconds.
     */
    void reconnect(int peer);
  }

  /**
   * Creates it.
   *
   * @param index which namenode it is
   * @param peer which of its peers this is
   * @param addresses where the peers talk to each other
   * @param election how long the one that leads may be silent, at least
   */
  Reconnections(
      Peers raft,
      int index,
      int peer,
      List<InetSocketAddress> addresses,
      Clock clock,
      Duration election) {
    this.raft = raft;
    this.index = index;
    this.peer = peer;
    this.addresses = addresses;
    this.clock = clock;
    this.silentMillis = LEADERLESS * election.toMillis();
    this.isCutOff = new boolean[addresses.size()];
    this.lookedNanos = clock.nanoTime();
    this.ledNanos = lookedNanos;
    this.thread =
        Executors.newSingleThreadExecutor(Threads.factory("crail-namenode-" + index + "-connects"));
  }

  /** Looks from time to time. One thread calls it. */
  void tick() {
    long now = clock.nanoTime();
    if (raft.hasLeader()) {
      ledNanos = now;
    }
    if (now - lookedNanos < PERIOD_NANOS || isLooking.get()) {
      return;
    }
    lookedNanos = now;
    boolean isLost = TimeUnit.NANOSECONDS.toMillis(now - ledNanos) >= silentMillis;
    if (isLost) {
      // The next elections get as much time.
      ledNanos = now;
    }
    if (isLost || raft.leads()) {
      isLooking.set(true);
      thread.execute(() -> look(isLost));
    }
  }

  private void look(boolean isLost) {
    try {
      for (int i = 0; i < addresses.size(); i++) {
        if (i != peer && (isLost ? raft.counts(i) : isBack(i))) {
          LOG.info("peer {} of namenode {} connects to peer {} anew", peer, index, i);
          raft.reconnect(i);
        }
      }
    } finally {
      isLooking.set(false);
    }
  }

  /** Whether a peer can be reached again that could not be reached. */
  private boolean isBack(int of) {
    if (!raft.counts(of) || (!isCutOff[of] && raft.silentMillis(of) < silentMillis)) {
      return false;
    }
    boolean was = isCutOff[of];
    isCutOff[of] = !isReached(addresses.get(of));
    return was && !isCutOff[of];
  }

  private static boolean isReached(InetSocketAddress address) {
    try (Socket socket = new Socket()) {
      // Resolved anew each time: a host may come back elsewhere.
      socket.connect(
          new InetSocketAddress(address.getHostString(), address.getPort()), CONNECT_MILLIS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Ends it. What is under way ends by itself. */
  @Override
  public void close() {
    thread.shutdown();
  }
}

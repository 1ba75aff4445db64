/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import io.crail.common.Clock;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * The remembered answers of a server, by client and peer. A peer whose connections are gone is
 * remembered as long as it may send a request again. Thread-safe.
 */
public final class ReplyCache {
  /** The longest time for which a peer without a connection is remembered. */
  private static final long MOST_PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** The account of the memory that the answers take. Thread-safe. */
  public interface Memory {
    /** Takes bytes; false when there are not enough. */
    boolean take(long bytes);

    /** Takes bytes, in any case. */
    void add(long bytes);

    /** Gives bytes back. */
    void give(long bytes);
  }

  private record Key(long client, long peer) {}

  /** Counts what is taken. */
  private record Counted(Memory memory, LongAdder used) implements Memory {
    @Override
    public boolean take(long bytes) {
      if (!memory.take(bytes)) {
        return false;
      }
      used.add(bytes);
      return true;
    }

    @Override
    public void add(long bytes) {
      memory.add(bytes);
      used.add(bytes);
    }

    @Override
    public void give(long bytes) {
      memory.give(bytes);
      used.add(-bytes);
    }
  }

  private final Clock clock;
  private final Counted memory;
  private final ConcurrentHashMap<Object, Replies> peers = new ConcurrentHashMap<>();

  /** Creates an empty cache. */
  public ReplyCache(Clock clock, Memory memory) {
    this.clock = clock;
    this.memory = new Counted(memory, new LongAdder());
  }

  static Object key(long client, long peer) {
    return new Key(client, peer);
  }

  /** Whether answers to a peer are remembered. */
  public boolean knows(long client, long peer) {
    return peers.containsKey(key(client, peer));
  }

  /**
   * The replies of a peer that has made a connection; {@link #closed} must follow.
   *
   * @param client a random number
   * @param peer distinguishes the peers of the client
   * @param patienceNanos how long after the loss of its connection the peer may send a request
   *     again
   */
  public Replies opened(long client, long peer, long patienceNanos) {
    long patience = Math.min(Math.max(patienceNanos, 0), MOST_PATIENCE_NANOS);
    return peers.compute(
        key(client, peer),
        (key, known) -> {
          Replies replies = known == null ? new Replies(memory, client, peer) : known;
          replies.connected(patience);
          return replies;
        });
  }

  /** A connection of a peer is gone. */
  public void closed(Replies replies) {
    peers.compute(
        replies.key(),
        (key, known) -> {
          if (replies.disconnected(clock.nanoTime())) {
            replies.forget();
            return null;
          }
          return known;
        });
  }

  /** Forgets the peers that do not come back. */
  public void tick() {
    long now = clock.nanoTime();
    for (Object key : peers.keySet()) {
      peers.computeIfPresent(
          key,
          (same, replies) -> {
            if (!replies.isDue(now)) {
              return replies;
            }
            replies.forget();
            return null;
          });
    }
  }

  /** Bytes of heap that all of this takes. */
  public long footprint() {
    return memory.used.sum();
  }

  /** The number of peers that are remembered. */
  public int size() {
    return peers.size();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import io.crail.common.Clock;
import io.crail.rpc.login.Principal;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * The remembered answers of a server, by client and peer. A peer whose connections are gone is
 * remembered as long as it may send a request again. Thread-safe.
 */
public final class ReplyCache {
  /** The longest time for which a peer without a connection is remembered. */
  private static final long MOST_PATIENCE_NANOS = TimeUnit.HOURS.toNanos(1);

  /** Counts what is taken. */
  private record Counted(ReplyMemory memory, LongAdder used) implements ReplyMemory {
    @Override
    public boolean take(long bytes) {
      if (!memory.take(bytes)) {
        return false;
      }
      used.add(bytes);
      return true;
    }

    @Override
    public boolean takeReserved(long bytes) {
      if (!memory.takeReserved(bytes)) {
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
  private final ConcurrentHashMap<Replies.Key, Replies> peers = new ConcurrentHashMap<>();

  /** Creates an empty cache. */
  public ReplyCache(Clock clock, ReplyMemory memory) {
    this.clock = clock;
    this.memory = new Counted(memory, new LongAdder());
  }

  /**
   * The replies of a peer that has made a connection; {@link #closed} must follow.
   *
   * @param principal who makes it, so that others cannot ask for its answers
   * @param client a random number
   * @param peer distinguishes the peers of the client
   * @param patienceNanos how long after the loss of its connection the peer may send a request
   *     again
   */
  public Replies opened(Principal principal, long client, long peer, long patienceNanos) {
    long patience = Math.min(Math.max(patienceNanos, 0), MOST_PATIENCE_NANOS);
    return peers.compute(
        new Replies.Key(principal, client, peer),
        (key, known) -> {
          Replies replies = known == null ? new Replies(memory, key) : known;
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
    for (Replies replies : peers.values()) {
      if (replies.isDue(now)) {
        peers.computeIfPresent(
            replies.key(),
            (key, present) -> {
              if (!present.isDue(now)) {
                return present;
              }
              present.forget();
              return null;
            });
      }
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

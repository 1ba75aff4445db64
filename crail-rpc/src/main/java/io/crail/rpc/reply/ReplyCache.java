/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.reply;

import io.crail.common.Clock;
import io.crail.rpc.login.Principal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * The remembered answers of a server, by client and peer. A peer whose connections are gone is
 * remembered as long as it may send a request again. Thread-safe.
 */
public final class ReplyCache {
  /** The longest time for which a peer without a connection is remembered. */
  private static final long MOST_PATIENCE_NANOS = TimeUnit.HOURS.toNanos(1);

  /**
   * The most peers without a connection that are remembered. Beyond that, the one that is soonest
   * to be forgotten is forgotten at once, although it may still send a request again.
   */
  private static final int MOST_ABSENT = 1 << 16;

  private static final int MOST_FORGOTTEN_AT_ONCE = 16;

  /** A peer with an answer to come is remembered at least this much longer. */
  private static final long BUSY_NANOS = TimeUnit.SECONDS.toNanos(1);

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
  private final ReplyLog log;
  private final int mostAbsent;
  private final ConcurrentHashMap<Replies.Key, Replies> peers = new ConcurrentHashMap<>();

  /** Peers without a connection, in the order in which they are to be forgotten. */
  private final ConcurrentSkipListSet<Replies.Absence> absent = new ConcurrentSkipListSet<>();

  private final AtomicInteger absentCount = new AtomicInteger();
  private final AtomicLong absences = new AtomicLong();

  /** Creates an empty cache. */
  public ReplyCache(Clock clock, ReplyMemory memory) {
    this(clock, memory, ReplyLog.NONE);
  }

  /** Creates an empty cache, whose answers are noted. */
  public ReplyCache(Clock clock, ReplyMemory memory, ReplyLog log) {
    this(clock, memory, log, MOST_ABSENT);
  }

  ReplyCache(Clock clock, ReplyMemory memory, ReplyLog log, int mostAbsent) {
    this.log = log;
    this.clock = clock;
    this.memory = new Counted(memory, new LongAdder());
    this.mostAbsent = mostAbsent;
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
          Replies replies = known == null ? new Replies(memory, log, key) : known;
          Replies.Absence ended = replies.connected(patience);
          if (ended != null) {
            remove(ended);
          }
          return replies;
        });
  }

  /** A connection of a peer is gone. */
  public void closed(Replies replies) {
    peers.compute(
        replies.key(),
        (key, known) -> {
          if (!replies.disconnected()) {
            return known;
          }
          if (replies.isEmpty()) {
            forget(replies);
            return null;
          }
          add(replies, replies.peer().patienceNanos());
          return known;
        });
    int tries = MOST_FORGOTTEN_AT_ONCE;
    for (Replies.Absence each : absent) {
      if (absentCount.get() <= mostAbsent || tries-- == 0) {
        break;
      }
      forget(each);
    }
  }

  private void add(Replies replies, long nanos) {
    absent.add(replies.absent(clock.nanoTime() + nanos, absences.incrementAndGet()));
    absentCount.incrementAndGet();
  }

  private void remove(Replies.Absence absence) {
    absent.remove(absence);
    absentCount.decrementAndGet();
  }

  /** Forgets the peers that do not come back. */
  public void tick() {
    long now = clock.nanoTime();
    for (Replies.Absence each : absent) {
      if (now - each.endNanos() < 0) {
        break;
      }
      forget(each);
    }
  }

  /** Forgets a peer, unless it is back, or has an answer to come. */
  private void forget(Replies.Absence absence) {
    peers.computeIfPresent(
        absence.replies().key(),
        (key, present) -> {
          if (present.absence() != absence) {
            return present;
          }
          remove(absence);
          if (present.isBusy()) {
            add(present, BUSY_NANOS);
            return present;
          }
          forget(present);
          return null;
        });
  }

  private void forget(Replies replies) {
    log.forgotten(replies.peer());
    replies.forget();
  }

  /**
   * A peer of an earlier start, which may send a request again. Before the cache is used; {@link
   * #restored} must follow.
   */
  public Replies restore(Principal principal, long client, long peer, long patienceNanos) {
    Replies.Key key = new Replies.Key(principal, client, peer);
    Replies replies = new Replies(memory, log, key);
    replies.connected(Math.min(Math.max(patienceNanos, 0), MOST_PATIENCE_NANOS));
    Replies before = peers.put(key, replies);
    if (before != null) {
      before.forget();
    }
    return replies;
  }

  /** Remembers an answer of an earlier start. False if there is no memory for it. */
  public static boolean restore(
      Replies replies, int slot, long number, int code, boolean lost, ByteBuffer bytes) {
    return replies.restore(slot, number, code, lost, bytes);
  }

  /** Forgets a peer of an earlier start. */
  public void unrestore(Replies replies) {
    peers.remove(replies.key());
    replies.forget();
  }

  /** All of earlier starts is restored. From now on, peers have to come back in time. */
  public void restored() {
    List.copyOf(peers.values()).forEach(this::closed);
  }

  /** Visits all peers. */
  public void forEach(Consumer<Replies> visitor) {
    peers.values().forEach(visitor);
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

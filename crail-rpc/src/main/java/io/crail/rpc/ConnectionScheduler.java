/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.Clock;
import java.util.PriorityQueue;

/**
 * Decides which connection a server's thread serves next.
 *
 * <p>A turn is one look of the thread at the requests that have come. Within a turn, connections
 * are served in the order of their requests. A turn ends after {@link #TURN_NANOS}, or after {@link
 * #SLICE_NANOS} if the next request takes long. Connections with further requests then wait. After
 * each turn, waiting connections get a slice of time: first those that have had the least time. So
 * a connection with many requests waits for the other busy ones, and a connection with few requests
 * waits for one slice. This is start-time fair queueing (Goyal, Vin, Cheng, 1996): the tag of a
 * slice is the end of its connection's previous slice, but at least the tag that is served now, and
 * the smallest tag is served first. A new connection is treated as if it had just had a slice. So
 * waiting connections go before it, and no peer gains by connecting again.
 *
 * <p>After a slice of long requests, the thread serves no further slice for as long as that one
 * lasted. A thread that never sleeps would get its processor late when there are more such threads
 * than processors, and then all its connections would wait. The pause lasts for a turn at most: if
 * the slice took longer, the machine was the cause.
 *
 * <p>Used by one thread, except for the statistics.
 */
public final class ConnectionScheduler {
  /** How long a turn lasts before other connections come first. */
  public static final long TURN_NANOS = 1_000_000;

  /** The same limit for requests that take long; also the length of a slice. */
  public static final long SLICE_NANOS = 500_000;

  /**
   * The name of a server's figure: how long connections have waited for their turn, or until
   * answers could leave, all together, in nanoseconds.
   */
  public static final String WAITED = "waited-nanos";

  private final Clock clock;
  private final PriorityQueue<Member> waiting = new PriorityQueue<>();
  private long servedTag;
  private long arrivals;
  private Member served;
  private boolean isLeft;
  private boolean servedLong;
  private boolean isTimed;
  private long beganNanos;
  private volatile long waitedNanos;

  /** A connection. Its tags are nanoseconds of service. */
  public abstract static class Member implements Comparable<Member> {
    private long tag;
    private long arrival;
    private long endTag;
    private long sinceNanos;
    private boolean isBlocked;

    /** Creates a connection that does not wait yet. */
    protected Member() {}

    /**
     * Serves the waiting requests, since it is this connection's turn. If requests are left, the
     * connection must wait again.
     */
    protected abstract void serve();

    @Override
    public final int compareTo(Member other) {
      int order = Long.compare(tag, other.tag);
      if (order == 0) {
        order = Long.compare(endTag, other.endTag);
      }
      return order != 0 ? order : Long.compare(arrival, other.arrival);
    }
  }

  /** Creates a queue without waiting connections. */
  public ConnectionScheduler(Clock clock) {
    this.clock = clock;
  }

  /** Adds a new connection. */
  public void join(Member member) {
    member.endTag = servedTag + SLICE_NANOS;
  }

  /** Notes that a connection waits from now on, though not for its turn yet. */
  public void block(Member member) {
    member.isBlocked = true;
    member.sinceNanos = clock.nanoTime();
  }

  /** Lets a connection wait for its turn. It must not be waiting already. */
  public void await(Member member) {
    if (member == served) {
      // The end of its slice is known only after the slice.
      isLeft = true;
    } else {
      add(member);
    }
  }

  private void add(Member member) {
    member.tag = Math.max(member.endTag, servedTag);
    member.arrival = arrivals++;
    if (!member.isBlocked) {
      member.sinceNanos = clock.nanoTime();
    }
    waiting.add(member);
  }

  /** True when a connection waits. */
  public boolean isAnyWaiting() {
    return !waiting.isEmpty();
  }

  /** Connections that wait, now or a moment ago. By any thread. */
  public int waitingCount() {
    return waiting.size();
  }

  /**
   * How long connections have waited so far that have been served since, all together: for their
   * turn, or blocked before. By any thread.
   */
  public long waitedNanos() {
    return waitedNanos;
  }

  /** Begins a turn. Its time counts from the first query of the time. */
  public void begin() {
    isTimed = false;
  }

  /** True when this turn has lasted so long that other connections come first. Reads the clock. */
  public boolean isOver() {
    return nanos() > TURN_NANOS;
  }

  /** True when a request that takes long may be served now. Reads the clock. */
  public boolean allowLong() {
    boolean allowed = (served != null || waiting.isEmpty()) && nanos() < SLICE_NANOS;
    servedLong |= allowed;
    return allowed;
  }

  /** How long this turn or slice has lasted. */
  private long nanos() {
    long now = clock.nanoTime();
    if (!isTimed) {
      isTimed = true;
      beganNanos = now;
    }
    return now - beganNanos;
  }

  /**
   * Serves a slice to the connections whose turn it is, at least to one.
   *
   * @return how long to pause before the next slice, in nanoseconds
   */
  public long serveSlice() {
    servedLong = false;
    // The slice has its own time, since the time of the turn may be used up.
    begin();
    long now = nanos();
    do {
      now = serveNext(now);
    } while (!waiting.isEmpty() && now < SLICE_NANOS);
    return servedLong ? Math.min(now, TURN_NANOS) : 0;
  }

  private long serveNext(long began) {
    served = waiting.remove();
    servedTag = served.tag;
    waitedNanos += beganNanos + began - served.sinceNanos;
    served.isBlocked = false;
    isLeft = false;
    long ended;
    try {
      served.serve();
    } finally {
      ended = nanos();
      served.endTag = served.tag + ended - began;
      if (isLeft) {
        add(served);
      }
      served = null;
    }
    return ended;
  }
}

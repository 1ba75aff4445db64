/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.Clock;
import java.util.PriorityQueue;

/**
 * Whose turn it is among the connections that a server's thread serves.
 *
 * <p>A turn is one look of the thread at what has come. Within it connections are served as their
 * requests come. When it has lasted {@link #TURN_NANOS}, or {@link #SLICE_NANOS} and a request that
 * takes long is next, those that have more wait, and after each turn a slice goes to some of them:
 * to who has had the least time. So who asks for much waits for the others who do, and who asks for
 * little waits for a slice. This is start-time fair queueing (Goyal, Vin, Cheng, 1996): a slice's
 * tag is where its connection's last one ended, but no less than the tag that is served now, and
 * the least tag is served. A new connection counts as one that has just had a slice: who waits
 * already goes before it, and nobody gains by coming again.
 *
 * <p>After a slice of requests that take long the thread rests from them as long as it has lasted:
 * one that never sleeps would get its processor late where there are more of them than processors,
 * and with it everybody would wait. It rests for a turn at most: what took longer was the machine.
 *
 * <p>Used by one thread.
 */
public final class Turns {
  /** How long connections are served in a turn before others come first. */
  public static final long TURN_NANOS = 1_000_000;

  /** The same for requests that take long, and the length of a slice. */
  public static final long SLICE_NANOS = 500_000;

  private final Clock clock;
  private final PriorityQueue<Member> waiting = new PriorityQueue<>();
  private long servedTag;
  private long arrivals;
  private Member served;
  private boolean isLeft;
  private boolean servedLong;
  private boolean isTimed;
  private long beganNanos;

  /** A connection. Tags are nanoseconds of service. */
  public abstract static class Member implements Comparable<Member> {
    private long tag;
    private long arrival;
    private long endTag;

    /** Creates one that waits for nothing yet. */
    protected Member() {}

    /** Serves what waits; it is its turn. Must wait again when something is left. */
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

  /** Nobody waits yet. */
  public Turns(Clock clock) {
    this.clock = clock;
  }

  /** A new connection. */
  public void join(Member member) {
    member.endTag = servedTag + SLICE_NANOS;
  }

  /** Has a connection, which is not waiting yet, wait for its turn. */
  public void await(Member member) {
    if (member == served) {
      // Where its slice ends is known when it has.
      isLeft = true;
    } else {
      add(member);
    }
  }

  private void add(Member member) {
    member.tag = Math.max(member.endTag, servedTag);
    member.arrival = arrivals++;
    waiting.add(member);
  }

  /** True when somebody waits. */
  public boolean isAnyWaiting() {
    return !waiting.isEmpty();
  }

  /** A turn begins; its time counts from when it is asked for first. */
  public void begin() {
    isTimed = false;
  }

  /** True when this turn has lasted so long that others come first. Reads the clock. */
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
   * Serves a slice to those whose turn it is, at least to one.
   *
   * @return for how long to rest from them, in nanoseconds
   */
  public long serveSlice() {
    servedLong = false;
    // It has a time of its own: the turn may have been used up.
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

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import java.util.LinkedHashSet;

/**
 * Memory that the connections of one event loop hold for their peers, who do not take their answers
 * or do not end their requests: bounded for all of them together. The less is left, the less more
 * one connection gets, so there is some for the next one, however many hold theirs. Should it be
 * used up all the same, those end that have made no progress for longest. What a connection needs
 * while its peer takes everything does not count, for it has given that back before the next one is
 * served.
 *
 * <p>Used only by the loop's thread, but for the figures.
 */
public final class HeldMemory {
  /** How long a peer may make no progress while memory is short. */
  static final long PRESSED_TIMEOUT_NANOS = 2_000_000_000L;

  /** A connection may hold one part in so many of what the others leave. */
  private static final int SHARE = 4;

  /** A connection that holds some. */
  public interface Holder {
    /** True when requests were served, or answers taken, since this was last asked. */
    boolean hasProgressed();

    /**
     * Ends the connection, whose memory is needed; that must have been counted when this returns.
     */
    void endForMemory();
  }

  private final long most;

  // In the order in which they were last seen to make progress.
  private final LinkedHashSet<Holder> holders = new LinkedHashSet<>();
  private volatile long bytes;
  private volatile long peakBytes;

  /**
   * Nothing is held yet.
   *
   * @param most the most bytes that connections hold together
   */
  public HeldMemory(long most) {
    this.most = most;
  }

  /** The most bytes that a connection which holds some already may hold now. */
  public long mostForOne() {
    // The last quarter is for those that hold nothing yet.
    return (most - most / 4 - bytes) / SHARE;
  }

  /**
   * How long a peer may make no progress.
   *
   * @param heldBytes what is held for it
   * @param timeoutNanos how long it may while there is enough memory
   */
  public long patienceNanos(long heldBytes, long timeoutNanos) {
    boolean isPressed = heldBytes > 0 && bytes > most / 2;
    return isPressed ? Math.min(timeoutNanos, PRESSED_TIMEOUT_NANOS) : timeoutNanos;
  }

  /**
   * Counts what a connection holds.
   *
   * @param now what it holds now
   * @param change by how much that is more than before
   */
  public void count(Holder holder, long now, long change) {
    bytes += change;
    if (now == 0) {
      holders.remove(holder);
    } else {
      holders.add(holder);
    }
    if (bytes > peakBytes) {
      peakBytes = bytes;
    }
    if (bytes > most && change > 0) {
      endIdlest();
    }
  }

  /** Ends connections until there is memory, first those that have made no progress for longest. */
  private void endIdlest() {
    int chances = holders.size();
    while (bytes > most && !holders.isEmpty()) {
      Holder first = holders.iterator().next();
      holders.remove(first);
      if (first.hasProgressed() && chances-- > 0) {
        holders.add(first);
      } else {
        first.endForMemory();
      }
    }
  }

  /** Bytes that are held. For any thread. */
  public long bytes() {
    return bytes;
  }

  /** The most that ever were held. For any thread. */
  public long peakBytes() {
    return peakBytes;
  }
}

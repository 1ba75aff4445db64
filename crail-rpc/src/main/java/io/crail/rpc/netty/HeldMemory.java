/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import java.util.LinkedHashSet;

/**
 * The memory that the connections of one event loop hold for slow peers, which do not take their
 * answers or do not complete their requests. One limit covers all connections together. The less
 * memory is left, the less a single connection may get, so there is always some for the next one.
 * If the memory is used up all the same, the connections that have made no progress for longest are
 * ended. Memory that a connection needs while its peer takes everything does not count, since the
 * connection gives it back before the next one is served.
 *
 * <p>Used only by the loop's thread, except for the statistics.
 */
public final class HeldMemory {
  /** How long a peer may make no progress while memory is short. */
  static final long PRESSED_TIMEOUT_NANOS = 2_000_000_000L;

  /**
   * A connection may hold this fraction, 1/SHARE, of the memory that the other connections leave.
   */
  private static final int SHARE = 4;

  /** A connection that holds memory. */
  public interface Holder {
    /** True when requests were served, or answers taken, since the last call. */
    boolean hasProgressed();

    /**
     * Ends the connection, because its memory is needed. When this returns, the memory must have
     * been counted as free.
     */
    void endForMemory();
  }

  private final long most;

  // The holders, in the order in which they were last seen to make progress.
  private final LinkedHashSet<Holder> holders = new LinkedHashSet<>();
  private volatile long bytes;
  private volatile long peakBytes;

  /**
   * Creates an account that holds nothing.
   *
   * @param most the most bytes that connections hold together
   */
  public HeldMemory(long most) {
    this.most = most;
  }

  /** The most bytes that a single connection may hold now. */
  public long mostForOne() {
    // The last quarter is for connections that hold nothing yet.
    return (most - most / 4 - bytes) / SHARE;
  }

  /**
   * How long a peer may make no progress.
   *
   * @param heldBytes the bytes that are held for the peer
   * @param timeoutNanos the time to use while there is enough memory
   */
  public long patienceNanos(long heldBytes, long timeoutNanos) {
    boolean isPressed = heldBytes > 0 && bytes > most / 2;
    return isPressed ? Math.min(timeoutNanos, PRESSED_TIMEOUT_NANOS) : timeoutNanos;
  }

  /**
   * Counts what a connection holds.
   *
   * @param now the bytes that it holds now
   * @param change how many bytes more that is than before
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

  /** Ends connections until there is memory; first those that have made no progress for longest. */
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

  /** The most bytes that were ever held. For any thread. */
  public long peakBytes() {
    return peakBytes;
  }
}

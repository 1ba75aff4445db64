/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.error.ErrorCode;
import java.util.concurrent.atomic.AtomicReference;

/**
 * An answer that leaves later: a service has taken a request, gives this to {@link
 * ResponseWriter#hold} in place of an answer, and serves on. It ends once: some thread has released
 * it, its time is over, or its connection is gone.
 */
public final class HeldAnswer {
  /** Writes an answer. */
  @FunctionalInterface
  public interface Body {
    /** Writes exactly one response. Called in the thread that owns the connection. */
    void write(ResponseWriter responses, long correlationId);
  }

  /** A connection has it, and nobody has released it. */
  private static final Body HELD = (responses, correlationId) -> {};

  /** Nobody gets it any more. */
  private static final Body ENDED = (responses, correlationId) -> {};

  private static final Body OVERDUE =
      (responses, correlationId) ->
          responses.fail(correlationId, ErrorCode.TIMED_OUT, "the answer was held too long");

  private final long timeoutNanos;
  private final int bytes;

  /** Null at first, then one of the above or the answer. */
  private final AtomicReference<Body> state = new AtomicReference<>();

  // Of the connection's thread; the table is set before others see that it is held.
  private HeldAnswers.OfConnection holder;
  private long correlationId;
  private long deadlineNanos;

  /** Its place among those of its connection. */
  int index;

  /**
   * Creates an answer that no connection holds yet.
   *
   * @param timeoutNanos after so long the request is answered with {@link ErrorCode#TIMED_OUT}
   * @param bytes about how much memory is kept for it, which counts for the limits
   */
  public HeldAnswer(long timeoutNanos, int bytes) {
    this.timeoutNanos = timeoutNanos;
    this.bytes = bytes;
  }

  /**
   * Lets the answer leave. For any thread, also before the connection holds it.
   *
   * @return false when it has ended before
   */
  public boolean release(Body body) {
    if (state.compareAndSet(null, body)) {
      return true;
    }
    if (!state.compareAndSet(HELD, body)) {
      return false;
    }
    holder.table().released(this);
    return true;
  }

  // In the connection's thread.

  /** Belongs to a connection from now on; false when it was released already. */
  boolean hold(HeldAnswers.OfConnection newHolder, long newCorrelationId, long nowNanos) {
    holder = newHolder;
    correlationId = newCorrelationId;
    deadlineNanos = nowNanos + timeoutNanos;
    return state.compareAndSet(null, HELD);
  }

  HeldAnswers.OfConnection holder() {
    return holder;
  }

  int bytes() {
    return bytes;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** Its time is over; false when somebody has released it. */
  boolean expire() {
    return state.compareAndSet(HELD, OVERDUE);
  }

  /** Its connection is gone. */
  void end() {
    state.set(ENDED);
  }

  /** Writes what it was released with. */
  void write(ResponseWriter responses) {
    state.getAndSet(ENDED).write(responses, correlationId);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.reply.Reply;
import java.util.concurrent.atomic.AtomicReference;

/**
 * An answer that leaves later. Instead of writing an answer, the service gives this object to
 * {@link Session#hold} and serves the next request. It ends once: when a thread releases it, when
 * its time is over, or when its connection is gone. One that is remembered does not end with its
 * connection, since the peer asks for it over another one.
 */
public final class HeldAnswer {
  /** Writes an answer. */
  @FunctionalInterface
  public interface Body {
    /** Writes exactly one response. Called in the thread that owns the connection. */
    void write(ResponseWriter responses, long correlationId);
  }

  /** The connection that holds answers. */
  abstract static class Holder {
    /** The answer was released while this held it. For any thread. */
    abstract void released(HeldAnswer answer);

    /** The answer was released, or its time is over. In the connection's thread. */
    abstract void mayLeave(HeldAnswer answer);
  }

  /** A connection holds it, and no thread has released it. */
  private static final Body HELD = (responses, correlationId) -> {};

  /** It has ended, and the answer does not leave any more. */
  private static final Body ENDED = (responses, correlationId) -> {};

  private static final Body OVERDUE =
      (responses, correlationId) ->
          responses.fail(correlationId, ErrorCode.TIMED_OUT, "the answer was held too long");

  private final long timeoutNanos;
  private final int bytes;

  /** Null at first, later one of the constants above or the answer. */
  private final AtomicReference<Body> state = new AtomicReference<>();

  // Used by the connection's thread. The holder is set before other threads see that the answer is
  // held.
  private Holder holder;
  private long correlationId;
  private long deadlineNanos;
  private Reply reply;

  /** Its index among the answers of its connection. */
  int index;

  /**
   * Creates an answer that no connection holds yet.
   *
   * @param timeoutNanos after this time the request is answered with {@link ErrorCode#TIMED_OUT}
   * @param bytes about how much memory is kept for it; it counts for the limits
   */
  public HeldAnswer(long timeoutNanos, int bytes) {
    this.timeoutNanos = timeoutNanos;
    this.bytes = bytes;
  }

  /**
   * Lets the answer leave. Any thread may call this, even before the connection holds the answer.
   *
   * @return false when it had already ended
   */
  public boolean release(Body body) {
    if (state.compareAndSet(null, body)) {
      return true;
    }
    if (!state.compareAndSet(HELD, body)) {
      return false;
    }
    holder.released(this);
    return true;
  }

  // In the connection's thread.

  /** Makes a connection the holder. Returns false when the answer was released already. */
  boolean hold(Holder newHolder, long newCorrelationId, long nowNanos) {
    holder = newHolder;
    correlationId = newCorrelationId;
    deadlineNanos = nowNanos + timeoutNanos;
    return state.compareAndSet(null, HELD);
  }

  /** Has the answer remembered when it is written; the reply is claimed until then. */
  void rememberIn(Reply newReply) {
    reply = newReply;
    reply.holds();
  }

  boolean isRemembered() {
    return reply != null;
  }

  Holder holder() {
    return holder;
  }

  int bytes() {
    return bytes;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** Ends the answer because its time is over. Returns false when a thread has released it. */
  boolean expire() {
    return state.compareAndSet(HELD, OVERDUE);
  }

  /** Ends the answer because its connection is gone. */
  void end() {
    state.set(ENDED);
  }

  /** Writes the answer with which it was released. */
  void write(ResponseWriter responses) {
    if (reply == null) {
      state.getAndSet(ENDED).write(responses, correlationId);
      return;
    }
    long number = Frame.sequence(correlationId);
    boolean written = false;
    try {
      state.getAndSet(ENDED).write(responses, correlationId);
      written = true;
    } finally {
      if (written) {
        responses.remember(reply, number);
      } else {
        reply.failed(number);
      }
    }
  }
}

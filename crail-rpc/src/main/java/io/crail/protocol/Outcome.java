/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.CrailException;
import io.crail.rpc.HeldAnswer;
import io.crail.rpc.Session;

/**
 * What a handler gives back that may answer later: an answer, or a promise of one.
 *
 * @param <R> the response
 */
public sealed interface Outcome<R> {
  /** The answer leaves now. */
  static <R> Outcome<R> now(R answer) {
    return new Now<>(answer);
  }

  /**
   * The answer leaves when it is released, by any thread.
   *
   * @param timeoutNanos after so long the request has failed as timed out
   * @param bytes about how much memory is kept for the answer until then, which counts for the
   *     limits
   */
  static <R> Held<R> held(long timeoutNanos, int bytes) {
    return new Held<>(timeoutNanos, bytes);
  }

  /** An answer that is known. */
  record Now<R>(R answer) implements Outcome<R> {}

  /** An answer that is not known yet, or not allowed to leave. Thread-safe. */
  final class Held<R> implements Outcome<R> {
    private final HeldAnswer answer;
    private Operation<?, R> operation;
    private Session session;

    private Held(long timeoutNanos, int bytes) {
      this.answer = new HeldAnswer(timeoutNanos, bytes);
    }

    /** Answers; false when the request has ended before. */
    public boolean release(R response) {
      return release(() -> response);
    }

    /** Answers with an error; false when the request has ended before. */
    public boolean fail(CrailException cause) {
      return release(
          () -> {
            throw cause;
          });
    }

    /**
     * Answers with what is computed in the thread that owns the connection, which may use its
     * session there; false when the request has ended before. Nothing is computed when the
     * connection is gone.
     */
    public boolean release(Source<R> source) {
      return answer.release(
          (responses, id) -> OperationServer.write(operation, source, session, id, responses));
    }

    /** Learns what it answers, before others can see that it is held. */
    HeldAnswer of(Operation<?, R> newOperation, Session newSession) {
      operation = newOperation;
      session = newSession;
      return answer;
    }
  }

  /** Gives an answer. */
  @FunctionalInterface
  interface Source<R> {
    /**
     * The answer.
     *
     * @throws CrailException in place of it
     */
    R get() throws CrailException;
  }
}

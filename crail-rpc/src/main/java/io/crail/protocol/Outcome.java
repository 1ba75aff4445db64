/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.CrailException;
import io.crail.rpc.HeldAnswer;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;

/**
 * The result of a handler that may answer later: an answer, or a promise of one.
 *
 * @param <R> the response
 */
public sealed interface Outcome<R> {
  /** The answer leaves now. */
  static <R> Outcome<R> now(R answer) {
    return new Now<>(answer);
  }

  /**
   * The answer leaves when a thread releases it. Any thread may.
   *
   * @param timeoutNanos after this time the request fails as timed out, and does so again if it is
   *     sent again; what it changes has to be settled by then
   * @param bytes about how much memory is kept for the answer until then; it counts for the limits
   */
  static <R> Held<R> held(long timeoutNanos, int bytes) {
    return new Held<>(timeoutNanos, bytes);
  }

  /** An answer that is known. */
  record Now<R>(R answer) implements Outcome<R> {}

  /** An answer that is not known yet, or may not leave yet. Thread-safe. */
  final class Held<R> implements Outcome<R> {
    private final HeldAnswer answer;
    private Operation<?, R> operation;
    private Session session;

    private Held(long timeoutNanos, int bytes) {
      this.answer = new HeldAnswer(timeoutNanos, bytes);
    }

    /** Answers the request. Returns false when it had already ended. */
    public boolean release(R response) {
      return release(() -> response);
    }

    /** Answers with an error. Returns false when the request had already ended. */
    public boolean fail(CrailException cause) {
      return release(
          () -> {
            throw cause;
          });
    }

    /**
     * Answers with a result that is computed in the thread that owns the connection, where the
     * session may be used. When the connection is gone, it is computed only if the answer is
     * remembered. Returns false when the request had already ended.
     */
    public boolean release(Source<R> source) {
      return answer.release((responses, id) -> write(source, id, responses));
    }

    /** Writes the answer, in the thread of its connection. */
    private void write(Source<R> source, long correlationId, ResponseWriter responses) {
      try {
        operation.answer(source.get(), correlationId, responses);
      } catch (CrailException e) {
        responses.fail(correlationId, e.code(), e.detail());
      } catch (RuntimeException | Error e) {
        operation.failed(session, correlationId, responses, e);
      }
    }

    /**
     * Sets the operation and session that this answers, before other threads can see that it is
     * held.
     */
    HeldAnswer of(Operation<?, R> newOperation, Session newSession) {
      operation = newOperation;
      session = newSession;
      return answer;
    }
  }

  /** Computes an answer. */
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

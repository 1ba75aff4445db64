/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.reply.Replies;
import io.crail.rpc.reply.Reply;
import java.util.function.Predicate;

/**
 * The handler of an operation that serves one request at a time, and each only once. Stateless.
 *
 * @param admission whether requests may change something
 * @param operation the operation
 * @param reader reads the requests
 * @param responder serves them
 * @param takesLong says which may take some ten microseconds or more
 * @param work may help where a request would be refused; null for none
 * @param <V> the object that a request is read into
 */
public record SingleHandler<V>(
    Admission admission,
    Operation<?, ?> operation,
    Reader<V> reader,
    Responder<V> responder,
    Predicate<V> takesLong,
    Work<V> work) {
  /**
   * Reads a request in place.
   *
   * @param <V> the object that the request is read into; it may be reused for the next request
   */
  @FunctionalInterface
  public interface Reader<V> {
    /**
     * Reads a request whose lengths were checked.
     *
     * @throws CrailException when it is refused; the code and the detail become the answer
     */
    V read(RequestBatch batch, int index) throws CrailException;
  }

  /**
   * Serves one request, and writes its answer straight into the buffer.
   *
   * @param <V> the object that the request was read into
   */
  @FunctionalInterface
  public interface Responder<V> {
    /**
     * Serves a request with one answer.
     *
     * @throws CrailException when it is refused, and nothing was written; the code and the detail
     *     become the answer
     */
    void respond(V request, RequestBatch batch, int index, ResponseWriter responses)
        throws CrailException;
  }

  /**
   * Work that can prevent the refusal of a request. It is done in pieces, one whenever the
   * connection has its turn. Until it is done, the request and those after it are given back.
   *
   * @param <Q> the request
   */
  public interface Work<Q> {
    /**
     * Whether a piece should be done before a request is served.
     *
     * @param refusal the refusal, which has changed nothing; null when the request was not served
     *     yet
     */
    boolean isNeeded(Q request, CrailException refusal);

    /**
     * Does one piece, in well below a millisecond. When this returns false, the pieces that other
     * threads had begun are done too.
     *
     * @return false when nothing was left to do; then the next refusal is the answer
     */
    boolean doSome();
  }

  /**
   * Serves a request. Returns false when the request has to wait for its turn and has no answer
   * yet.
   */
  boolean serve(RequestBatch batch, int index, ResponseWriter responses) throws CrailException {
    // A malformed request is a bug or malice of the peer, so it ends the connection.
    operation
        .request()
        .layout()
        .check(batch.buffer(), batch.bodyOffset(index), batch.bodyLength(index));
    Replies replies = operation.changes() ? batch.session().replies() : null;
    return replies == null
        ? serveNew(batch, index, responses)
        : serveOnce(replies, batch, index, responses);
  }

  /** Serves a request, unless it was served before. */
  private boolean serveOnce(
      Replies replies, RequestBatch batch, int index, ResponseWriter responses)
      throws CrailException {
    long id = batch.correlationId(index);
    Reply reply = replies.at(Frame.slot(id));
    if (reply == null) {
      responses.fail(id, ErrorCode.LIMIT_EXCEEDED, "no memory to remember the answer");
      return true;
    }
    long number = Frame.sequence(id);
    switch (reply.claim(number)) {
      case NEW:
        try {
          replies.log().begin(replies.peer(), Frame.slot(id), number);
        } catch (RuntimeException | Error e) {
          reply.failed(number);
          throw e;
        }
        try {
          return serveClaimed(reply, number, batch, index, responses);
        } finally {
          replies.log().end();
        }
      case ANSWERED:
        try {
          if (reply.isLost()) {
            responses.fail(
                id, ErrorCode.UNAVAILABLE, "it may have been served, and the answer is lost");
          } else {
            responses.repeat(reply, id);
          }
        } finally {
          reply.written(number);
        }
        return true;
      case PASSED:
        responses.fail(id, ErrorCode.UNAVAILABLE, "the client has sent a later request");
        return true;
      default:
        // Another connection of this peer is being served, or has an answer that is held.
        if (reply.isHeld()) {
          batch.session().waitForAnswer();
        }
        return false;
    }
  }

  private boolean serveClaimed(
      Reply reply, long number, RequestBatch batch, int index, ResponseWriter responses)
      throws CrailException {
    boolean served;
    try {
      served = serveNew(batch, index, responses);
    } catch (CrailException | RuntimeException | Error e) {
      reply.failed(number);
      throw e;
    }
    if (!served) {
      reply.waits(number);
    } else if (!reply.isHeld()) {
      responses.remember(reply, number);
    }
    return served;
  }

  private boolean serveNew(RequestBatch batch, int index, ResponseWriter responses)
      throws CrailException {
    String refusal = operation.changes() ? admission.refusal() : null;
    if (refusal != null) {
      responses.fail(batch.correlationId(index), ErrorCode.UNAVAILABLE, refusal);
      responses.restsOnNothing();
      return true;
    }
    try {
      V request = reader.read(batch, index);
      return !(takesLong.test(request) && !responses.hasTurn())
          && respond(request, batch, index, responses);
    } catch (CrailException e) {
      responses.fail(batch.correlationId(index), e.code(), e.detail());
    } catch (RuntimeException | Error e) {
      operation.failed(batch.session(), batch.correlationId(index), responses, e);
    }
    return true;
  }

  /**
   * Answers, after the work that is needed. Returns false when that work has to wait for its turn.
   */
  private boolean respond(V request, RequestBatch batch, int index, ResponseWriter responses)
      throws CrailException {
    boolean more = work != null;
    CrailException refusal = null;
    while (true) {
      if (more && work.isNeeded(request, refusal)) {
        if (!responses.hasTurn()) {
          return false;
        }
        more = work.doSome();
        refusal = null;
      } else if (refusal != null) {
        throw refusal;
      } else {
        try {
          responder.respond(request, batch, index, responses);
          return true;
        } catch (CrailException e) {
          refusal = e;
        }
      }
    }
  }
}

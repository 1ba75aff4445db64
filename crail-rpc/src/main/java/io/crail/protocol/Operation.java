/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Independent;
import io.crail.protocol.part.SpreadPath;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import io.crail.rpc.login.Right;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntBiFunction;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One operation of a protocol: everything that clients, servers, repeats, counters and the
 * documentation need to know of it.
 *
 * @param number the permanent number on the wire, 1 to 255
 * @param name the name in lower case, for counters and documentation
 * @param right what a caller needs to ask for it
 * @param request the request's codec
 * @param response the codec of a successful answer
 * @param changes whether it changes something, so that its answers are remembered
 * @param routing which namenode it goes to
 * @param sentence what it does
 * @param <Q> the request
 * @param <R> the response
 */
public record Operation<Q, R>(
    int number,
    String name,
    Right right,
    Codec<Q> request,
    Codec<R> response,
    boolean changes,
    Routing<Q> routing,
    String sentence) {
  private static final Logger LOG = LoggerFactory.getLogger(Operation.class);

  /** Checks the number. */
  public Operation {
    if (number < 1 || number > 255) {
      throw new IllegalArgumentException("operation number out of range: " + number);
    }
    Objects.requireNonNull(right, "right");
    Objects.requireNonNull(routing, "routing");
  }

  /**
   * Which of several namenodes serves a request.
   *
   * @param label the word for it in the documentation
   * @param path the path that decides; null when none does
   * @param index gives the namenode's index from the request and the number of namenodes; null when
   *     the caller names the namenode
   * @param by the request with its paths in another form, see {@link SpreadPath}; null when it has
   *     none
   * @param <Q> the request
   */
  public record Routing<Q>(
      String label,
      Function<Q, Utf8> path,
      ToIntBiFunction<Q, Integer> index,
      BiFunction<Q, UnaryOperator<Utf8>, Q> by) {
    /** The path of a request that decides; null when none does. */
    Utf8 path(Q request) {
      return path == null ? null : path.apply(request);
    }
  }

  /** Writes a successful answer. */
  void answer(R response, long correlationId, ResponseWriter responses) {
    int length = this.response.length(response);
    int body = responses.begin(length);
    this.response.encode(response, responses.buffer(), body);
    assert fits(responses.buffer(), body, length);
    responses.end(correlationId, length);
    if (response instanceof Independent answer && answer.isIndependent()) {
      responses.restsOnNothing();
    }
  }

  /**
   * Whether an answer keeps to its own layout. A bad answer would make the client close the
   * connection and lose all its calls.
   */
  private boolean fits(ByteBuffer buffer, int offset, int length) {
    try {
      response.layout().check(buffer, offset, length);
      return true;
    } catch (CrailException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Answers a request that has hit a bug. The other requests of its connection are not affected.
   */
  void failed(Session session, long correlationId, ResponseWriter responses, Throwable bug) {
    LOG.error("{} of {} failed", name, session.peer(), bug);
    responses.fail(correlationId, ErrorCode.INTERNAL, name);
  }

  @Override
  public String toString() {
    return name;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.protocol.codec.Codec;
import java.util.Objects;
import java.util.function.ToIntBiFunction;

/**
 * One operation of a protocol: everything that clients, servers, retries, counters and the
 * documentation need to know of it.
 *
 * @param number the permanent number on the wire, 1 to 255
 * @param name the name in lower case, for counters and documentation
 * @param request the request's codec
 * @param response the codec of a successful answer
 * @param idempotent whether a client may send it again when it does not know the outcome
 * @param routing which namenode it goes to
 * @param sentence what it does
 * @param <Q> the request
 * @param <R> the response
 */
public record Operation<Q, R>(
    int number,
    String name,
    Codec<Q> request,
    Codec<R> response,
    boolean idempotent,
    Routing<Q> routing,
    String sentence) {
  /** Checks the number. */
  public Operation {
    if (number < 1 || number > 255) {
      throw new IllegalArgumentException("operation number out of range: " + number);
    }
    Objects.requireNonNull(routing, "routing");
  }

  /**
   * Which of several namenodes serves a request.
   *
   * @param label the word for it in the documentation
   * @param index gives the namenode's index from the request and the number of namenodes; null when
   *     the caller names the namenode
   * @param <Q> the request
   */
  public record Routing<Q>(String label, ToIntBiFunction<Q, Integer> index) {}

  @Override
  public String toString() {
    return name;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.error.CrailException;

/**
 * What a server does with requests. One thread calls it for one connection; several threads call it
 * at once for different connections.
 */
public interface Service {
  /**
   * Serves the requests of a batch in their order and without blocking, each with exactly one
   * response, which is written now or {@linkplain ResponseWriter#hold held}. It may give the last
   * ones back when it is told that it should: see {@link ResponseWriter#isFull}, {@link
   * ResponseWriter#hasTurn} and {@link RequestBatch#giveBackFrom}. When the writer is full, no
   * response may be held.
   *
   * @throws CrailException when the peer breaks the protocol; its connection is then closed and
   *     everybody else is served on
   */
  void serve(RequestBatch batch, ResponseWriter responses) throws CrailException;

  /** The connection of {@code session} is gone. */
  default void closed(Session session) {}
}

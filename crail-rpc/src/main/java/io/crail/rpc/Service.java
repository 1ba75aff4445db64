/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.error.CrailException;

/**
 * Serves the requests of a server. The requests of one connection come from one thread. Several
 * threads may call at the same time for different connections.
 */
public interface Service {
  /**
   * Serves the requests of a batch in their order and without blocking, each with exactly one
   * response, which is written now or {@linkplain Session#hold held}. It may give the last ones
   * back on request: see {@link ResponseWriter#isFull}, {@link ResponseWriter#hasTurn} and {@link
   * RequestBatch#giveBackFrom}. When the writer is full, no response may be held.
   *
   * @throws CrailException when the peer breaks the protocol; its connection is then closed, and
   *     the others are still served
   */
  void serve(RequestBatch batch, ResponseWriter responses) throws CrailException;

  /** Decides when the answers may leave. */
  default CommitGate gate() {
    return CommitGate.OPEN;
  }

  /** Called when the connection of {@code session} is gone. */
  default void closed(Session session) {}
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.rpc.ClientLoop;

/** A kind of initiator; found through {@link java.util.ServiceLoader}. Thread-safe. */
public interface InitiatorProvider {
  /** The name of the initiators that are written in Java. */
  String JAVA = "java";

  /** The name by which users choose it; several may share one, each for its own transports. */
  String name();

  /** Whether its initiators reach targets over a transport. */
  boolean serves(NvmeTransport transport);

  /**
   * Creates an initiator. Called in the loop.
   *
   * @throws CrailException with UNSUPPORTED and the reason, when this process cannot use it
   */
  Initiator create(ClientLoop loop, Configuration configuration, Digests digests)
      throws CrailException;
}

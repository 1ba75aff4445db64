/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.nvmf.Digests;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.InitiatorProvider;
import io.crail.nvmf.NvmeTransport;
import io.crail.rpc.ClientLoop;

/** Initiators that SPDK drives, over TCP and RDMA. */
public final class SpdkInitiatorProvider implements InitiatorProvider {
  private static final String NAME = "spdk";

  /** Creates the provider; for {@link java.util.ServiceLoader}. */
  public SpdkInitiatorProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public boolean serves(NvmeTransport transport) {
    return true;
  }

  @Override
  public Initiator create(ClientLoop loop, Configuration configuration, Digests digests)
      throws CrailException {
    SpdkLoop spdk = SpdkLoop.of(loop, configuration);
    return (subsystem, namespaces, limits, listener) ->
        new SpdkController(spdk, subsystem, namespaces, digests, limits, listener);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.rdma;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.nvmf.Digests;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.InitiatorProvider;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.fabric.FabricInitiator;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.rdma.RdmaLoop;
import io.crail.rpc.rdma.RdmaSettings;

/** Initiators in Java over RDMA. */
public final class RdmaInitiatorProvider implements InitiatorProvider {
  /** Creates the provider; for {@link java.util.ServiceLoader}. */
  public RdmaInitiatorProvider() {}

  @Override
  public String name() {
    return JAVA;
  }

  @Override
  public boolean serves(NvmeTransport transport) {
    return transport == NvmeTransport.RDMA;
  }

  @Override
  public Initiator create(ClientLoop loop, Configuration configuration, Digests digests)
      throws CrailException {
    RdmaLoop rdma = RdmaLoop.of(loop, RdmaSettings.of(configuration));
    return new FabricInitiator(
        loop, new RdmaFabric(rdma, configuration.get(NvmeRdmaKeys.REGISTRATION_LIMIT)));
  }
}

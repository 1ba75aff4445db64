/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.config.Configuration;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;

/** Makes the RDMA transport, {@code crail.namenode.rpctype=darpc}. */
public final class DarpcTransportProvider implements TransportProvider {
  /** Used by {@link java.util.ServiceLoader}. */
  public DarpcTransportProvider() {}

  @Override
  public String name() {
    return "darpc";
  }

  @Override
  public Transport create(Configuration configuration) {
    return new DarpcTransport(configuration);
  }
}

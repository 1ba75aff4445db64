/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.config.Configuration;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;

/** Makes the TCP transport, {@code crail.namenode.rpctype=tcp}. */
public final class NettyTransportProvider implements TransportProvider {
  /** Used by {@link java.util.ServiceLoader}. */
  public NettyTransportProvider() {}

  @Override
  public String name() {
    return "tcp";
  }

  @Override
  public Transport create(Configuration configuration) {
    return new NettyTransport(configuration);
  }
}

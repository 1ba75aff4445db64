/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.config.Configuration;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;

/** The client part of the TCP tier. */
final class TcpStorageClient implements StorageClient {
  private final NettyClientLoop loop;
  private final Configuration configuration;
  private final long clientId;

  TcpStorageClient(NettyClientLoop loop, Configuration configuration, long clientId) {
    this.loop = loop;
    this.configuration = configuration;
    this.clientId = clientId;
  }

  @Override
  public StorageEndpoint connect(DatanodeDescription datanode) {
    return new TcpStorageEndpoint(
        loop,
        datanode,
        clientId,
        configuration.get(TcpStorageKeys.QUEUE_DEPTH),
        configuration.get(TcpStorageKeys.CONNECT_TIMEOUT).toNanos());
  }

  @Override
  public void close() {
    // The endpoints share only the loop, which belongs to the store.
  }
}

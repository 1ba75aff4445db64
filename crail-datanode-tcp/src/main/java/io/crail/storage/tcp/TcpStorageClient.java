/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.rpc.netty.NettyClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;

/** The client part of the TCP tier. */
final class TcpStorageClient implements StorageClient {
  private final NettyClientLoop loop;
  private final Context context;

  TcpStorageClient(NettyClientLoop loop, Context context) {
    this.loop = loop;
    this.context = context;
  }

  @Override
  public StorageEndpoint connect(DatanodeDescription datanode) {
    return new TcpStorageEndpoint(
        loop,
        datanode,
        context,
        context.configuration().get(TcpStorageKeys.QUEUE_DEPTH),
        context.configuration().get(TcpStorageKeys.CONNECT_TIMEOUT).toNanos());
  }

  @Override
  public void close() {
    // The endpoints share only the loop, which belongs to the store.
  }
}

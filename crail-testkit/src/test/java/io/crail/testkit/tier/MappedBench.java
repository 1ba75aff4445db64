/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyKeys;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.mapped.MappedEndpoint;
import io.crail.storage.tcp.TcpStorageKeys;
import java.util.function.Function;

/** The mapped regions of a datanode of the TCP tier on the same host. */
final class MappedBench extends TcpBench {
  private static final long CLIENT = 1;
  private static final Function<String, StorageEndpoint> NO_DETOUR =
      reason -> {
        throw new AssertionError(reason);
      };

  private ClientLoop loop;

  MappedBench() {
    super(NettyKeys.Io.AUTO, TcpStorageKeys.Memory.FILE);
  }

  @Override
  ClientLoop newLoop() {
    loop = super.newLoop();
    return loop;
  }

  @Override
  StorageEndpoint connect(StorageClient client, DatanodeDescription datanode) throws Exception {
    return MappedEndpoint.open(datanode, CLIENT, loop.clock(), NO_DETOUR).orElseThrow();
  }

  @Override
  int bytesOfTransfer() {
    return 0;
  }
}

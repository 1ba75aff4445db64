/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.TierArguments;
import java.util.List;

/** Storage in a datanode's memory, reached over TCP, or mapped on its own host. */
public final class TcpStorageTier implements StorageTier {
  /** The short name. */
  public static final String NAME = TcpStorageKeys.TIER;

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public TcpStorageTier() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public TierArguments arguments() {
    return TcpStorageKeys.HOST.arguments();
  }

  @Override
  public StorageServer createServer(Configuration configuration, List<String> arguments) {
    return new TcpStorageServer(arguments().apply(configuration, arguments));
  }

  @Override
  public PlannedDatanode plan(Configuration configuration, List<String> arguments) {
    PlannedDatanode planned = TcpStorageKeys.HOST.plan(configuration, arguments);
    return configuration.get(TcpStorageKeys.MEMORY) == TcpStorageKeys.Memory.FILE
        ? planned
        : planned.in("");
  }

  @Override
  public StorageClient createClient(StorageClient.Context context) throws CrailException {
    if (context.loop() instanceof NettyClientLoop loop) {
      return new Client(loop, context);
    }
    throw ErrorCode.UNSUPPORTED.exception(
        "tier tcp needs metadata over TCP, whose loop its connections share");
  }

  /** The client part of the TCP tier. */
  private static final class Client implements StorageClient {
    private final NettyClientLoop loop;
    private final Context context;

    Client(NettyClientLoop loop, Context context) {
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
}

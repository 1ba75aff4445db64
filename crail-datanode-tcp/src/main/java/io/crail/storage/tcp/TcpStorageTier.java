/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import java.util.List;

/** Storage in a datanode's memory, reached over TCP, or mapped on its own host. */
public final class TcpStorageTier implements StorageTier {
  /** The short name. */
  public static final String NAME = "tcp";

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public TcpStorageTier() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public StorageServer createServer(Configuration configuration, List<String> arguments) {
    return new TcpStorageServer(TcpStorageKeys.HOST.arguments().apply(configuration, arguments));
  }

  @Override
  public StorageClient createClient(StorageClient.Context context) throws CrailException {
    if (context.loop() instanceof NettyClientLoop loop) {
      return new TcpStorageClient(loop, context.configuration(), context.clientId());
    }
    throw ErrorCode.UNSUPPORTED.exception(
        "tier tcp needs metadata over TCP, whose loop its connections share");
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.TierArguments;
import java.nio.file.Path;
import java.util.List;

/** Storage on NVMe namespaces, which clients reach over NVMe over Fabrics. */
public final class NvmfStorageTier implements StorageTier {
  /** The short name. */
  public static final String NAME = NvmfStorageKeys.TIER;

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public NvmfStorageTier() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public TierArguments arguments() {
    return NvmfStorageKeys.ARGUMENTS;
  }

  @Override
  public StorageServer createServer(Configuration configuration, List<String> arguments) {
    return new NvmfStorageServer(arguments().apply(configuration, arguments));
  }

  @Override
  public List<String> sharedArguments(Path directory, long bytes) {
    return List.of("-s", String.valueOf(bytes));
  }

  @Override
  public StorageClient createClient(StorageClient.Context context) throws CrailException {
    try {
      return new Client(context.loop(), context.configuration());
    } catch (ConfigException e) {
      // Known only now, as it is in files.
      throw ErrorCode.UNSUPPORTED.exception(e.getMessage());
    }
  }

  /** The client part of the NVMf tier. */
  private static final class Client implements StorageClient {
    private final TargetAccess access;

    Client(ClientLoop loop, Configuration configuration) {
      this.access =
          new TargetAccess(
              loop,
              NvmfStorageKeys.host(configuration),
              // The controllers have deadlines of their own.
              NvmfStorageKeys.limits(configuration).patient(),
              new Initiators(loop, configuration));
    }

    @Override
    public StorageEndpoint connect(DatanodeDescription datanode) {
      return new NvmfStorageEndpoint(access, datanode);
    }

    @Override
    public void close() {
      access.loop().submit(access.initiators()::close);
    }
  }
}

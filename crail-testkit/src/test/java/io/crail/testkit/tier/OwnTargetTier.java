/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * The NVMf tier for clusters of tests: each datanode has a target of its own in this process, which
 * ends with the datanode.
 */
public final class OwnTargetTier implements StorageTier {
  /** The short name. */
  public static final String NAME = "owntarget";

  private static final int SECTOR = 4096;

  private final NvmfStorageTier nvmf = new NvmfStorageTier();

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public OwnTargetTier() {}

  @Override
  public String name() {
    return NAME;
  }

  /** The space of a datanode, by the arguments of tiers; the others are about serving. */
  static long bytes(Configuration configuration, List<String> arguments) {
    int limit = arguments.indexOf("-s");
    return limit < 0
        ? configuration.get(NvmfStorageKeys.STORAGE_LIMIT)
        : Long.parseLong(arguments.get(limit + 1));
  }

  @Override
  public StorageServer createServer(Configuration configuration, List<String> arguments) {
    long bytes = bytes(configuration, arguments);
    NvmeTarget target;
    try {
      target =
          new NvmeTarget(
              new TargetOptions(),
              new TargetNamespace(1, Math.toIntExact((NvmfBench.LABEL + bytes) / SECTOR), SECTOR));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<String> own = List.of("-t", target.text(), "-s", String.valueOf(bytes));
    return new ServerWithTarget(nvmf.createServer(configuration, own), () -> NvmfBench.end(target));
  }

  @Override
  public StorageClient createClient(StorageClient.Context context) throws CrailException {
    return nvmf.createClient(context);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.io.IOException;
import java.util.List;

/** The NVMf tier, on a target of this process, which ends with the datanode. */
final class NvmfBench extends FlashBench {
  /** Bytes of a namespace that a datanode keeps for itself. */
  static final int LABEL = 1 << 20;

  private final int sector;
  private final String initiator;

  /**
   * Creates a bench.
   *
   * @param sector bytes of a block of the namespaces
   * @param initiator of the datanode and of clients
   */
  NvmfBench(int sector, String initiator) {
    this.sector = sector;
    this.initiator = initiator;
  }

  /** Ends a target, and fails when it complains about its hosts. */
  static void end(NvmeTarget target) throws IOException {
    target.close();
    if (!target.complaints().isEmpty()) {
      throw new AssertionError(target.complaints());
    }
  }

  @Override
  Configuration.Builder settings() {
    return Configuration.builder().set(NvmfStorageKeys.INITIATOR, initiator);
  }

  @Override
  StorageServer newServer() throws Exception {
    NvmeTarget target =
        new NvmeTarget(
            new TargetOptions(),
            new TargetNamespace(1, (LABEL + REGION) / sector, sector),
            new TargetNamespace(2, (LABEL + REGION) / sector, sector));
    Configuration settings =
        settings()
            .set(NvmfStorageKeys.TARGETS, target.text())
            .set(NvmfStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
            .set(NvmfStorageKeys.ALLOCATION_SIZE, REGION)
            .build();
    return new ServerWithTarget(
        new NvmfStorageTier().createServer(settings, List.of()), () -> end(target));
  }
}

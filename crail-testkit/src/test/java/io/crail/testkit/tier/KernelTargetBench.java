/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.nvmf.KernelTarget;
import java.io.IOException;
import java.util.List;

/** The NVMf tier, on the target of the test machine's kernel. */
final class KernelTargetBench extends FlashBench {
  private final String target;
  private final String initiator;

  /**
   * Creates a bench.
   *
   * @param target as a datanode is told of it
   * @param initiator of the datanode and of clients
   */
  KernelTargetBench(String target, String initiator) {
    this.target = target;
    this.initiator = initiator;
  }

  @Override
  Configuration.Builder settings() {
    return Configuration.builder()
        .set(NvmfStorageKeys.INITIATOR, initiator)
        .set(NvmfStorageKeys.KEEP_ALIVE, KernelTarget.KEEP_ALIVE)
        .set(NvmfStorageKeys.CONNECT_TIMEOUT, "20s");
  }

  @Override
  StorageServer newServer() throws IOException {
    KernelTarget.listen();
    Configuration settings =
        settings()
            .set(NvmfStorageKeys.TARGETS, target)
            .set(NvmfStorageKeys.OVERWRITE, true)
            .set(NvmfStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
            .set(NvmfStorageKeys.ALLOCATION_SIZE, REGION)
            .build();
    return new NvmfStorageTier().createServer(settings, List.of());
  }
}

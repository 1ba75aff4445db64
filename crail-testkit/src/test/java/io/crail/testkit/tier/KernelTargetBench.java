/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.nvmf.NvmeTransport;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.nvmf.KernelSubsystem;
import io.crail.testkit.nvmf.KernelTarget;
import java.io.IOException;
import java.util.List;

/**
 * The NVMf tier, on the target of the test machine's kernel: one namespace has blocks of 512 bytes,
 * and the other one has blocks of 4,096.
 */
final class KernelTargetBench extends FlashBench {
  private final NvmeTransport transport;
  private final String initiator;

  /**
   * Creates a bench.
   *
   * @param initiator of the datanode and of clients
   */
  KernelTargetBench(NvmeTransport transport, String initiator) {
    this.transport = transport;
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
    KernelSubsystem subsystem = new KernelSubsystem(NvmfBench.LABEL + REGION, 512, 4096);
    Configuration settings =
        settings()
            .set(NvmfStorageKeys.TARGETS, subsystem.text(transport))
            .set(NvmfStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
            .set(NvmfStorageKeys.ALLOCATION_SIZE, REGION)
            .build();
    return new ServerWithTarget(
        new NvmfStorageTier().createServer(settings, List.of()), subsystem::close);
  }
}

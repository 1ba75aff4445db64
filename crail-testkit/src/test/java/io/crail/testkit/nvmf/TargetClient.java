/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.common.config.Configuration;
import io.crail.nvmf.InitiatorProvider;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.nvmf.NvmfStorageKeys;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A datanode and a client of targets that do what a test asks for. */
abstract class TargetClient extends FlashClient {
  final List<NvmeTarget> targets = new ArrayList<>();

  @Override
  void stopped() {
    for (NvmeTarget target : targets) {
      assertEquals(List.of(), target.complaints());
    }
  }

  /** Who speaks NVMe over Fabrics. */
  String initiator() {
    return InitiatorProvider.JAVA;
  }

  final NvmeTarget target(int sector) throws IOException {
    // The datanode gives its signs of life there.
    return target(sector, new TargetOptions().spared(MIB));
  }

  final NvmeTarget target(int sector, TargetOptions options) throws IOException {
    NvmeTarget target = new NvmeTarget(options, new TargetNamespace(1, 5 * MIB / sector, sector));
    open.add(target);
    targets.add(target);
    return target;
  }

  Configuration settings(NvmeTarget... behind) {
    return Configuration.builder()
        .set(
            NvmfStorageKeys.TARGETS,
            Stream.of(behind).map(NvmeTarget::text).collect(Collectors.joining(",")))
        .set(NvmfStorageKeys.INITIATOR, initiator())
        .set(NvmfStorageKeys.STORAGE_LIMIT, 4L * behind.length * MIB)
        .set(NvmfStorageKeys.ALLOCATION_SIZE, 4 * MIB)
        .set(NvmfStorageKeys.CONNECT_TIMEOUT, "1s")
        .set(NvmfStorageKeys.KEEP_ALIVE, "4s")
        .build();
  }

  final StorageEndpoint endpoint(NvmeTarget... behind) throws Exception {
    return endpoint(settings(behind));
  }
}

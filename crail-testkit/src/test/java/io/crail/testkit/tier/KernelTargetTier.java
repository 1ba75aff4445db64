/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.nvmf.NvmeTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.nvmf.KernelSubsystem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The NVMf tier for clusters of tests in the test machine: each datanode has a subsystem of its own
 * at the kernel's target, over RDMA, with blocks of 512 and of 4,096 bytes in turn.
 */
public class KernelTargetTier implements StorageTier {
  /** The short name. */
  public static final String NAME = "kerneltarget";

  private static final AtomicInteger COUNT = new AtomicInteger();

  private final NvmfStorageTier nvmf = new NvmfStorageTier();
  private final String name;
  private final NvmeTransport transport;

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public KernelTargetTier() {
    this(NAME, NvmeTransport.RDMA);
  }

  KernelTargetTier(String name, NvmeTransport transport) {
    this.name = name;
    this.transport = transport;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final StorageServer createServer(Configuration configuration, List<String> arguments) {
    long bytes = OwnTargetTier.bytes(configuration, arguments);
    KernelSubsystem subsystem;
    try {
      subsystem =
          new KernelSubsystem(
              NvmfBench.LABEL + bytes, COUNT.getAndIncrement() % 2 == 0 ? 512 : 4096);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<String> own = List.of("-t", subsystem.text(transport), "-s", String.valueOf(bytes));
    return new ServerWithTarget(nvmf.createServer(configuration, own), subsystem::close);
  }

  @Override
  public final StorageClient createClient(StorageClient.Context context) throws CrailException {
    return nvmf.createClient(context);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The NVMf tier, on a target of this process, which ends with the datanode. */
final class NvmfBench extends TierBench {
  /** Bytes of a namespace that a datanode keeps for itself. */
  static final int LABEL = 1 << 20;

  private final int sector;
  private NettyTransport transport;

  /**
   * Creates a bench.
   *
   * @param sector bytes of a block of the namespaces
   */
  NvmfBench(int sector) {
    this.sector = sector;
  }

  /** A datanode and its target. */
  static final class ServerWithTarget implements StorageServer {
    private final NvmeTarget target;
    private final StorageServer server;

    ServerWithTarget(NvmeTarget target, StorageServer server) {
      this.target = target;
      this.server = server;
    }

    @Override
    public void start(UUID uuid) throws IOException {
      server.start(uuid);
    }

    @Override
    public InetSocketAddress address() {
      return server.address();
    }

    @Override
    public List<Region> regions() {
      return server.regions();
    }

    @Override
    public TierTraits traits() {
      return server.traits();
    }

    @Override
    public Optional<String> failure() {
      return server.failure();
    }

    @Override
    public boolean wasLent(int region) {
      return server.wasLent(region);
    }

    @Override
    public Fence fence(int region) throws IOException {
      return server.fence(region);
    }

    @Override
    public void close() {
      server.close();
      try {
        target.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      if (!target.complaints().isEmpty()) {
        throw new AssertionError(target.complaints());
      }
    }
  }

  @Override
  StorageServer newServer() throws Exception {
    NvmeTarget target =
        new NvmeTarget(
            new NvmeTarget.Options(),
            new TargetNamespace(1, (LABEL + REGION) / sector, sector),
            new TargetNamespace(2, (LABEL + REGION) / sector, sector));
    Configuration settings =
        Configuration.builder()
            .set(NvmfStorageKeys.TARGETS, target.text())
            .set(NvmfStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
            .set(NvmfStorageKeys.ALLOCATION_SIZE, REGION)
            .build();
    return new ServerWithTarget(target, new NvmfStorageTier().createServer(settings, List.of()));
  }

  @Override
  StorageServer newServerAt(InetSocketAddress address) {
    throw new UnsupportedOperationException("clients do not connect to the datanode");
  }

  @Override
  boolean isOnThePath() {
    return false;
  }

  @Override
  ClientLoop newLoop() {
    transport = new NettyTransport(Configuration.builder().build());
    return transport.newClientLoop("test");
  }

  @Override
  StorageClient newClient(ClientLoop loop) throws Exception {
    return new NvmfStorageTier()
        .createClient(
            new StorageClient.Context(Configuration.builder().build(), transport, loop, 1));
  }

  @Override
  int bytesOfTransfer() {
    // The target allocates.
    return -1;
  }

  @Override
  void close() {
    transport.close();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Fabric;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.Subsystem;
import io.crail.nvmf.tcp.TcpFabric;
import io.crail.nvmf.tcp.TcpOptions;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Generation;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.LocalHost;
import io.crail.storage.StorageServer;
import io.crail.storage.region.RegionPlan;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A datanode that lends namespaces of targets. Clients move the bytes without it, so it has no
 * connection with any of them. It watches its targets.
 */
final class NvmfStorageServer implements StorageServer {
  private static final long CLAIM_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(NvmfStorageServer.class);

  private final Configuration configuration;
  private final List<TargetAddress> targets;
  private final List<WatchedTarget> watched = new ArrayList<>();
  private final List<Region> regions = new ArrayList<>();
  private final BitSet wasLent = new BitSet();
  private long[] fences;
  private int granularity = 512;
  private NettyTransport transport;
  private NettyClientLoop loop;

  /** Keeps a port, which tells this datanode from others of its host. Nobody connects to it. */
  private ServerSocket port;

  NvmfStorageServer(Configuration configuration) {
    this.configuration = configuration;
    this.targets =
        configuration.get(NvmfStorageKeys.TARGETS).stream().map(TargetAddress::parse).toList();
  }

  @Override
  public void start(UUID uuid) throws IOException {
    boolean started = false;
    try {
      startAs(uuid);
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  private void startAs(UUID uuid) throws IOException {
    if (targets.isEmpty()) {
      throw new ConfigException(
          "key '" + NvmfStorageKeys.TARGETS.name() + "' names no target, as host:port/nqn");
    }
    if (details().length() > TierTraits.MAX_DETAILS_LENGTH) {
      throw new ConfigException(
          "key '"
              + NvmfStorageKeys.TARGETS.name()
              + "' has more than the "
              + TierTraits.MAX_DETAILS_LENGTH
              + " characters that a datanode can tell its clients; start several datanodes");
    }
    transport = new NettyTransport(configuration);
    loop = (NettyClientLoop) transport.newClientLoop("nvmf-datanode");
    Fabric fabric = new TcpFabric(loop, options());
    NvmeHost host = NvmfStorageKeys.host(configuration);
    ControllerLimits limits = NvmfStorageKeys.limits(configuration);
    Claimant claimant =
        new Claimant(
            uuid,
            LocalHost.hostName(),
            configuration.get(NvmfStorageKeys.OVERWRITE),
            Math.max(
                NamespaceClaim.LEAST_QUIET_NANOS,
                ClusterKeys.MISSED_KEEP_ALIVES
                    * configuration.get(ClusterKeys.KEEP_ALIVE).toNanos()));
    for (TargetAddress target : targets) {
      WatchedTarget each =
          new WatchedTarget(
              loop,
              fabric,
              new Subsystem(target.address(), target.nqn(), host),
              target.namespaces(),
              limits,
              claimant);
      watched.add(each);
      each.start();
    }
    List<List<WatchedTarget.Held>> held = new ArrayList<>();
    for (WatchedTarget each : watched) {
      held.add(await(each, limits.startNanos() + claimant.quietNanos() + CLAIM_NANOS));
    }
    lend(held);
    List<InetSocketAddress> namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    InetAddress address = LocalHost.address(LocalHost.AUTO, namenodes);
    port = new ServerSocket(0, 1, address);
  }

  private TcpOptions options() {
    return new TcpOptions(
        configuration.get(NvmfStorageKeys.HEADER_DIGEST),
        configuration.get(NvmfStorageKeys.DATA_DIGEST));
  }

  private static List<WatchedTarget.Held> await(WatchedTarget target, long nanos)
      throws IOException {
    try {
      return target.held().get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("no answer from a target in time", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for a target");
    }
  }

  /** Cuts the namespaces into regions, one namespace after the other. */
  private void lend(List<List<WatchedTarget.Held>> held) {
    long total = 0;
    long smallest = Long.MAX_VALUE;
    for (List<WatchedTarget.Held> namespaces : held) {
      for (WatchedTarget.Held each : namespaces) {
        long bytes = each.namespace().bytes() - NamespaceLabel.SPACE;
        if (bytes < Extent.MIN_LENGTH) {
          throw new ConfigException(
              "namespace " + each.namespace().number() + " is shorter than a label and a region");
        }
        total += bytes;
        smallest = Math.min(smallest, bytes);
        granularity = Math.max(granularity, each.namespace().blockLength());
      }
    }
    Configuration bounded =
        configuration.toBuilder()
            .set(
                NvmfStorageKeys.STORAGE_LIMIT,
                Math.min(total, configuration.get(NvmfStorageKeys.STORAGE_LIMIT)))
            .set(
                NvmfStorageKeys.ALLOCATION_SIZE,
                Math.min(smallest, configuration.get(NvmfStorageKeys.ALLOCATION_SIZE)))
            .build();
    int namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS).size();
    List<Integer> lengths =
        new RegionPlan(NvmfStorageKeys.STORAGE_LIMIT, NvmfStorageKeys.ALLOCATION_SIZE)
            .lengths(bounded, namenodes, Extent.MIN_LENGTH);
    for (int target = 0; target < held.size(); target++) {
      for (WatchedTarget.Held each : held.get(target)) {
        long at = NamespaceLabel.SPACE;
        long key = LentTargets.key(target, each.namespace().number());
        int next = regions.size();
        while (next < lengths.size() && at + lengths.get(next) <= each.namespace().bytes()) {
          regions.add(new Region(next, lengths.get(next), at, key));
          wasLent.set(next, each.wasLent());
          at += lengths.get(next);
          next++;
        }
      }
    }
    fences = new long[regions.size()];
  }

  @Override
  public InetSocketAddress address() {
    return (InetSocketAddress) port.getLocalSocketAddress();
  }

  @Override
  public List<Region> regions() {
    return List.copyOf(regions);
  }

  @Override
  public TierTraits traits() {
    return new TierTraits(
        granularity,
        FenceKind.REST,
        Drain.millis(configuration.get(NvmfStorageKeys.KEEP_ALIVE)),
        true,
        Utf8.EMPTY,
        Utf8.of(details()));
  }

  private String details() {
    return new LentTargets(options(), targets).details();
  }

  @Override
  public Optional<String> failure() {
    return watched.stream().map(WatchedTarget::failure).filter(f -> f != null).findFirst();
  }

  @Override
  public boolean wasLent(int region) {
    return wasLent.get(region);
  }

  @Override
  public Fence fence(int region) {
    fences[region] += Generation.GAP;
    return new Fence(fences[region], regions.get(region));
  }

  @Override
  public void close() {
    if (loop != null) {
      release();
      loop.close();
    }
    if (transport != null) {
      transport.close();
    }
    if (port != null) {
      try {
        port.close();
      } catch (IOException e) {
        // The port is free all the same.
      }
    }
  }

  /** Lets other datanodes take the namespaces at once; those of a dead target they take later. */
  private void release() {
    CompletableFuture<?>[] all =
        watched.stream().map(WatchedTarget::release).toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(all).get(RELEASE_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      if (!regions.isEmpty()) {
        LOG.info("not all namespaces could be given back; others can take them after a while");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

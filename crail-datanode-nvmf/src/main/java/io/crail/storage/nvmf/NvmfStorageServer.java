/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Fabric;
import io.crail.nvmf.NamespaceData;
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
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A datanode that lends namespaces of targets. Clients move the bytes without it, so it has no
 * connection with any of them. It watches its targets.
 */
final class NvmfStorageServer implements StorageServer {

  private final Configuration configuration;
  private final List<TargetAddress> targets;
  private final List<WatchedTarget> watched = new ArrayList<>();
  private final List<Region> regions = new ArrayList<>();
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
      start();
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  private void start() throws IOException {
    if (targets.isEmpty()) {
      throw new ConfigException(
          "key '" + NvmfStorageKeys.TARGETS.name() + "' names no target, as host:port/nqn");
    }
    transport = new NettyTransport(configuration);
    loop = (NettyClientLoop) transport.newClientLoop("nvmf-datanode");
    Fabric fabric = new TcpFabric(loop, options());
    NvmeHost host = NvmfStorageKeys.host(configuration);
    ControllerLimits limits = NvmfStorageKeys.limits(configuration);
    for (TargetAddress target : targets) {
      WatchedTarget each =
          new WatchedTarget(
              loop,
              fabric,
              new Subsystem(target.address(), target.nqn(), host),
              target.namespaces(),
              limits);
      watched.add(each);
      each.start();
    }
    List<List<NamespaceData>> found = new ArrayList<>();
    for (WatchedTarget each : watched) {
      found.add(await(each, limits.startNanos()));
    }
    lend(found);
    List<InetSocketAddress> namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    InetAddress address = LocalHost.address(LocalHost.AUTO, namenodes);
    port = new ServerSocket(0, 1, address);
  }

  private TcpOptions options() {
    return new TcpOptions(
        configuration.get(NvmfStorageKeys.HEADER_DIGEST),
        configuration.get(NvmfStorageKeys.DATA_DIGEST));
  }

  private static List<NamespaceData> await(WatchedTarget target, long nanos) throws IOException {
    try {
      return target.found().get(nanos, TimeUnit.NANOSECONDS);
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
  private void lend(List<List<NamespaceData>> found) {
    long total = 0;
    for (List<NamespaceData> namespaces : found) {
      for (NamespaceData namespace : namespaces) {
        total += namespace.bytes();
        granularity = Math.max(granularity, namespace.blockLength());
      }
    }
    Configuration bounded =
        configuration.toBuilder()
            .set(
                NvmfStorageKeys.STORAGE_LIMIT,
                Math.min(total, configuration.get(NvmfStorageKeys.STORAGE_LIMIT)))
            .build();
    int namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS).size();
    List<Integer> lengths =
        new RegionPlan(NvmfStorageKeys.STORAGE_LIMIT, NvmfStorageKeys.ALLOCATION_SIZE)
            .lengths(bounded, namenodes, Extent.MIN_LENGTH);
    int next = 0;
    for (int target = 0; target < found.size(); target++) {
      for (NamespaceData namespace : found.get(target)) {
        long at = 0;
        while (next < lengths.size() && at + lengths.get(next) <= namespace.bytes()) {
          int length = lengths.get(next);
          long key = LentTargets.key(target, namespace.number());
          regions.add(new Region(next, length, at, key));
          at += length;
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
    List<TargetAddress> told =
        targets.stream().map(t -> new TargetAddress(t.address(), t.nqn(), List.of())).toList();
    return new TierTraits(
        granularity,
        FenceKind.REST,
        true,
        Utf8.EMPTY,
        Utf8.of(new LentTargets(options(), told).details()));
  }

  @Override
  public Optional<String> failure() {
    return watched.stream().map(WatchedTarget::failure).filter(f -> f != null).findFirst();
  }

  @Override
  public Fence fence(int region) {
    fences[region] += Generation.GAP;
    return new Fence(fences[region], regions.get(region));
  }

  @Override
  public void close() {
    if (loop != null) {
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
}

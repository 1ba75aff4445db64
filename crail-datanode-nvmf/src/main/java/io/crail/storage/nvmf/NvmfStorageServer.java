/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.NamenodeAddresses;
import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.Subsystem;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Generation;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.LocalHost;
import io.crail.storage.StorageServer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A datanode that lends namespaces of targets. Clients move the bytes without it, so it has no
 * connection with any of them. It watches its targets.
 */
final class NvmfStorageServer implements StorageServer {
  /** A claim waits for the drain of an earlier datanode, and each of its steps has a deadline. */
  private static final long CLAIM_NANOS = TimeUnit.HOURS.toNanos(1);

  private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(NvmfStorageServer.class);

  private final Configuration configuration;
  private final List<WatchedTarget> watched = new ArrayList<>();
  private List<TargetAddress> targets;
  private LentRegions lent = new LentRegions(List.of(), new BitSet());
  private long[] fences;
  private int granularity = 512;
  private NettyTransport transport;
  private ClientLoop loop;

  /**
   * Keeps a port, which distinguishes this datanode from others of its host. It takes no
   * connections.
   */
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
    transport = new NettyTransport(configuration);
    loop = transport.newClientLoop("nvmf-datanode");
    Initiators initiators = new Initiators(loop, configuration);
    NvmeHost host = NvmfStorageKeys.host(configuration);
    ControllerLimits limits = NvmfStorageKeys.limits(configuration);
    Digests digests = NvmfStorageKeys.digests(configuration);
    List<List<TargetAddress>> found =
        new TargetDiscovery(loop, initiators, digests, host, limits).resolve(targets);
    checkLength(found.stream().map(ways -> ways.get(0)).toList());
    Claimant claimant =
        new Claimant(
            uuid,
            LocalHost.hostName(),
            configuration.get(NvmfStorageKeys.OVERWRITE),
            LateExecution.millis(configuration.get(NvmfStorageKeys.KEEP_ALIVE)),
            Math.max(
                NamespaceClaim.LEAST_QUIET_NANOS,
                ClusterKeys.MISSED_KEEP_ALIVES
                    * configuration.get(ClusterKeys.KEEP_ALIVE).toNanos()));
    lend(
        claim(
            found,
            target ->
                new WatchedTarget(
                    loop,
                    initiators,
                    digests,
                    new Subsystem(target.transport(), target.address(), target.nqn(), host),
                    target.namespaces(),
                    limits,
                    claimant),
            limits.startNanos() + claimant.quietNanos() + CLAIM_NANOS));
    NamenodeAddresses namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    InetAddress address = LocalHost.address(LocalHost.AUTO, namenodes.all());
    port = new ServerSocket(0, 1, address);
  }

  private void checkLength(List<TargetAddress> announced) {
    if (Utf8.of(details(announced)).length() > TierTraits.MAX_DETAILS_LENGTH) {
      throw new ConfigException(
          "key '"
              + NvmfStorageKeys.TARGETS.name()
              + "' stands for more than the "
              + TierTraits.MAX_DETAILS_LENGTH
              + " bytes that a datanode can announce to its clients; start several datanodes");
    }
  }

  /**
   * Claims the namespaces of all targets at once. One that a service knows is tried way by way, and
   * left out when none leads to it: anybody may have registered it there.
   *
   * @param found the ways to each target
   */
  private List<List<WatchedTarget.Held>> claim(
      List<List<TargetAddress>> found, Function<TargetAddress, WatchedTarget> watch, long nanos)
      throws IOException {
    Set<TargetAddress> configured = Set.copyOf(targets);
    List<List<WatchedTarget.Held>> held = new ArrayList<>();
    List<WatchedTarget> reached = new ArrayList<>();
    targets = new ArrayList<>();
    for (List<TargetAddress> ways : found) {
      watched.add(watch.apply(ways.get(0)));
    }
    watched.forEach(WatchedTarget::start);
    IOException last = null;
    for (int i = 0; i < found.size(); i++) {
      for (TargetAddress way : found.get(i)) {
        if (way != found.get(i).get(0)) {
          watched.set(i, watch.apply(way));
          watched.get(i).start();
        }
        try {
          held.add(await(watched.get(i), nanos));
          reached.add(watched.get(i));
          targets.add(way);
          break;
        } catch (IOException e) {
          if (e instanceof InterruptedIOException
              || watched.get(i).wasReached()
              || configured.contains(way)) {
            throw e;
          }
          LOG.warn("leaves {} out: {}", way, e.getMessage());
          last = e;
        }
      }
    }
    if (targets.isEmpty()) {
      throw last;
    }
    watched.retainAll(reached);
    checkLength(targets);
    return held;
  }

  private static List<WatchedTarget.Held> await(WatchedTarget target, long nanos)
      throws IOException {
    try {
      return target.held().get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException(target + ": its namespaces could not be claimed in time", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for a target");
    }
  }

  private void lend(List<List<WatchedTarget.Held>> held) {
    lent =
        LentRegions.of(
            held,
            configuration.get(NvmfStorageKeys.STORAGE_LIMIT),
            configuration.get(NvmfStorageKeys.ALLOCATION_SIZE),
            configuration.get(ClusterKeys.NAMENODE_ADDRESS).size());
    fences = new long[lent.regions().size()];
    long total = 0;
    for (List<WatchedTarget.Held> namespaces : held) {
      for (WatchedTarget.Held each : namespaces) {
        total += each.namespace().bytes();
        granularity = Math.max(granularity, each.namespace().blockLength());
      }
    }
    long bytes = lent.regions().stream().mapToLong(Region::length).sum();
    LOG.info("lends {} of the {} bytes of its namespaces", bytes, total);
  }

  @Override
  public InetSocketAddress address() {
    return (InetSocketAddress) port.getLocalSocketAddress();
  }

  @Override
  public List<Region> regions() {
    return lent.regions();
  }

  @Override
  public TierTraits traits() {
    return new TierTraits(
        granularity,
        FenceKind.REST,
        LateExecution.millis(configuration.get(NvmfStorageKeys.KEEP_ALIVE)),
        true,
        Utf8.EMPTY,
        Utf8.of(details(targets)));
  }

  private String details(List<TargetAddress> announced) {
    return new LentTargets(NvmfStorageKeys.digests(configuration), announced).details();
  }

  @Override
  public Optional<String> failure() {
    return watched.stream().map(WatchedTarget::failure).filter(f -> f != null).findFirst();
  }

  @Override
  public Map<String, Boolean> targets() {
    Map<String, Boolean> reached = new LinkedHashMap<>();
    for (int i = 0; i < watched.size(); i++) {
      boolean isUsable = watched.get(i).isUsable();
      reached.merge(targets.get(i).toString(), isUsable, Boolean::logicalAnd);
    }
    return reached;
  }

  @Override
  public boolean wasLent(int region) {
    return lent.wasLent().get(region);
  }

  @Override
  public Fence fence(int region) {
    fences[region] += Generation.GAP;
    return new Fence(fences[region], lent.regions().get(region));
  }

  @Override
  public void close() {
    if (loop != null) {
      release();
      loop.close();
      loop = null;
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
      if (!lent.regions().isEmpty()) {
        LOG.info("not all namespaces could be given back; others can take them after a while");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

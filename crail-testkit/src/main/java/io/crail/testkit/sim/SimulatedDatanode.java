/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.cluster.Hello;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.LastingBytes;
import io.crail.storage.StorageServer;
import io.crail.storage.daemon.Registration;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * A datanode of a simulated tier on a simulated host. It registers and sends heartbeats as a real
 * one. It pauses and dies with its host. Used by the network's thread.
 */
public final class SimulatedDatanode implements AutoCloseable {
  private static final Duration STEP = Duration.ofMillis(100);

  private final SimulatedNetwork network;
  private final Configuration configuration;
  private final SimulatedTier tier;
  private final int storageClass;
  private final InetSocketAddress address;
  private final Kept kept;
  private UUID uuid;
  private ClientLoop loop;
  private StorageServer server;
  private Registration registration;
  private boolean alive;

  /** What the next process knows of the bytes. */
  private static final class Kept implements LastingBytes {
    private final UUID keeper;
    private final Map<Integer, Lending> lendings = new HashMap<>();
    private long start;

    Kept(UUID keeper) {
      this.keeper = keeper;
    }

    @Override
    public UUID keeper() {
      return keeper;
    }

    @Override
    public long start() {
      return start;
    }

    @Override
    public Lending lending(int region) {
      return lendings.get(region);
    }

    @Override
    public void lend(int region, Lending lending) {
      lendings.put(region, lending);
    }

    @Override
    public void discard() {
      lendings.clear();
    }
  }

  /** Starts a datanode. Its host is that of its address. */
  public SimulatedDatanode(
      SimulatedNetwork network,
      Configuration configuration,
      SimulatedTier tier,
      int storageClass,
      InetSocketAddress address)
      throws IOException {
    this(network, configuration, tier, storageClass, address, false);
  }

  /**
   * The same.
   *
   * @param keeps whether its bytes outlast it
   */
  public SimulatedDatanode(
      SimulatedNetwork network,
      Configuration configuration,
      SimulatedTier tier,
      int storageClass,
      InetSocketAddress address,
      boolean keeps)
      throws IOException {
    this.kept =
        keeps ? new Kept(new UUID(network.random().nextLong(), network.random().nextLong())) : null;
    this.network = network;
    this.configuration = configuration;
    this.tier = tier;
    this.storageClass = storageClass;
    this.address = address;
    start();
  }

  /** The name of its host. */
  public String host() {
    return address.getHostString();
  }

  /** True while it is alive, paused or not. */
  public boolean lives() {
    return alive;
  }

  /** True when all namenodes know it with all its regions. */
  public boolean isRegistered() {
    return lives() && registration.isRegistered();
  }

  private void start() throws IOException {
    uuid = new UUID(network.random().nextLong(), network.random().nextLong());
    if (server == null || kept == null) {
      server = tier.newServer(address);
    }
    if (kept != null) {
      kept.start++;
    }
    server.start(uuid);
    loop = network.transport(host()).newClientLoop("datanode");
    NameNodeClient namenodes =
        new NameNodeClient(
            loop,
            configuration.get(ClusterKeys.NAMENODE_ADDRESS),
            new NameNodeClient.Identity(
                Hello.ROLE_DATANODE,
                uuid.getLeastSignificantBits(),
                host(),
                configuration.get(ClusterKeys.CLUSTER_NAME)),
            RpcPeer.Options.defaults(),
            configuration.get(ClusterKeys.RPC_TIMEOUT).toNanos());
    registration =
        new Registration(
            namenodes,
            DatanodeDescription.of(uuid, tier.name(), server.address(), storageClass, server),
            server,
            configuration.get(ClusterKeys.KEEP_ALIVE).toNanos(),
            () -> false,
            kept,
            server::statistics,
            () -> {});
    alive = true;
    step(registration);
  }

  private void step(Registration mine) {
    if (registration == mine) {
      mine.step(network.clock().nanoTime());
      network.schedule(host(), STEP, () -> step(mine));
    }
  }

  /** Kills it together with its host. Its data are gone, unless it keeps them. */
  public void kill(boolean silently) {
    if (!alive) {
      return;
    }
    alive = false;
    registration = null;
    network.kill(host(), silently);
    if (silently) {
      tier.crash(address);
    } else {
      server.close();
    }
  }

  /**
   * Starts a datanode at the address of a killed one: a new, empty one unless it keeps its data.
   */
  public void restart() throws IOException {
    server.close();
    network.revive(host());
    start();
  }

  @Override
  public void close() {
    server.close();
    if (alive) {
      alive = false;
      registration = null;
      loop.close();
    }
  }
}

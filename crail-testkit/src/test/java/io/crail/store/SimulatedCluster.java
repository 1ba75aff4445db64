/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.part.ClassUsage;
import io.crail.storage.StorageTier;
import io.crail.testkit.sim.SimulatedDatanode;
import io.crail.testkit.sim.SimulatedNetwork;
import io.crail.testkit.sim.SimulatedTier;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * A namenode, datanodes (by default one) and stores in virtual time. Everything but the namenode's
 * timer runs in the thread of the test.
 */
final class SimulatedCluster implements AutoCloseable {
  static final String NAMENODE = "namenode";

  private static final InetSocketAddress ADDRESS =
      InetSocketAddress.createUnresolved(NAMENODE, 9060);
  private static final int REGIONS = 2;
  private static final int REGION_BYTES = 16 << 20;
  private static final Duration STEP = Duration.ofMillis(100);

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final Map<Integer, SimulatedDatanode> datanodes = new HashMap<>();
  private final Configuration configuration;
  private final SimulatedNetwork network;
  private final SimulatedTier tier;
  private final long startMillis;
  private NameNodeServer namenode;

  /**
   * Starts a cluster.
   *
   * @param settings {@code key=value} each
   */
  SimulatedCluster(long seed, String... settings) throws Exception {
    this(seed, false, REGION_BYTES, settings);
  }

  private SimulatedCluster(long seed, boolean oneSided, int regionBytes, String... settings)
      throws Exception {
    network = new SimulatedNetwork(seed);
    tier = new SimulatedTier(network.random(), network, REGIONS, regionBytes);
    tier.oneSided(oneSided);
    Configuration.Builder builder =
        Configuration.builder()
            .set("crail.namenode.address", "crail://namenode:" + ADDRESS.getPort(), "test")
            .set("crail.client.host", "client", "test")
            .set("crail.client.loops", "1", "test");
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      builder.set(setting.substring(0, equals), setting.substring(equals + 1), "test");
    }
    configuration = builder.build();
    startMillis = network.clock().currentTimeMillis();
    open.push(() -> namenode.close());
    startNamenode(network.clock());
    startDatanode(1);
  }

  /**
   * Starts a cluster whose datanode checks nothing: what is written lands.
   *
   * @param bytes all space
   */
  static SimulatedCluster oneSided(long seed, int bytes, String... settings) throws Exception {
    return new SimulatedCluster(seed, true, bytes / REGIONS, settings);
  }

  private void startNamenode(Clock clock) throws Exception {
    namenode =
        NameNodeServer.start(configuration, 0, 1, ADDRESS, network.transport(NAMENODE), clock);
  }

  /** How long the cluster has been there, by the time of day. */
  Duration age() {
    return Duration.ofMillis(network.clock().currentTimeMillis() - startMillis);
  }

  /**
   * Ends the namenode and starts an empty one at its address.
   *
   * @param behind how much its time of day is behind the last one's
   */
  void restartNamenode(Duration behind) throws Exception {
    namenode.close();
    startNamenode(
        new Clock() {
          @Override
          public long nanoTime() {
            return network.clock().nanoTime();
          }

          @Override
          public long currentTimeMillis() {
            return network.clock().currentTimeMillis() - behind.toMillis();
          }
        });
  }

  /** The name of a datanode's host: that of the first one is without a number. */
  private static String host(int number) {
    return number == 1 ? "datanode" : "datanode" + number;
  }

  /** Where a datanode pretends to serve. */
  static InetSocketAddress address(int number) {
    return InetSocketAddress.createUnresolved(host(number), 50_020);
  }

  /** Takes a datanode away without a word. */
  void crashDatanode(int number) {
    tier.crash(address(number));
    cutOffDatanode(number);
  }

  /** Cuts a datanode off from the namenode. */
  void cutOffDatanode(int number) {
    network.partition(host(number), NAMENODE);
  }

  /** Ends a datanode. */
  void endDatanode(int number) {
    datanodes.get(number).close();
  }

  /** The number of the datanode on a host. */
  static int numberOf(String host) {
    return host.equals(host(1)) ? 1 : Integer.parseInt(host.substring(host(1).length()));
  }

  /**
   * Starts one more datanode.
   *
   * @param number 2 or more, each once
   */
  void startDatanode(int number) throws Exception {
    SimulatedDatanode datanode =
        new SimulatedDatanode(network, configuration, tier, 0, address(number));
    open.push(datanode);
    datanodes.put(number, datanode);
    while (!datanode.isRegistered()) {
      network.runFor(STEP);
    }
  }

  SimulatedNetwork network() {
    return network;
  }

  SimulatedTier tier() {
    return tier;
  }

  /** A store on a host of its own; it is closed with the cluster. */
  CrailStore newStore(String host) {
    return newStore(host, name -> tier);
  }

  /** As {@link #newStore(String)}, with tiers of the test. */
  CrailStore newStore(String host, Function<String, StorageTier> tiers) {
    CrailStore store =
        CoreStore.open(configuration, network.transport(host), network.clock(), tiers);
    open.push(store::close);
    return store;
  }

  /** The space of all classes. */
  ClassUsage usage() throws Exception {
    return TestCluster.usage(network.transport("outside"), configuration);
  }

  long nanoTime() {
    return network.clock().nanoTime();
  }

  /** Lets a store live for a time, so that it renews its leases. */
  void drive(CrailStore store, Duration span) throws Exception {
    long end = nanoTime() + span.toNanos();
    while (nanoTime() - end < 0) {
      store.lookup("/nothing").get();
      network.runFor(STEP);
    }
  }

  /**
   * Waits until no space rests, while a store lives. The namenode's own thread sees what has rested
   * long enough, in real time; the datanode, in virtual time, whom it has to cut off for that.
   */
  void awaitNothingWaits(CrailStore store) throws Exception {
    TestCluster.await(
        "no space rests",
        () -> {
          drive(store, STEP);
          return usage().waitingBytes() == 0;
        });
  }

  /**
   * Opens a file to append once its lease is free. The namenode's own thread has to notice that,
   * and it may need more than one look: this waits in real time, while virtual time stands still.
   */
  static CrailOutputStream takeOver(CrailFile file) throws Exception {
    AtomicReference<CrailOutputStream> opened = new AtomicReference<>();
    TestCluster.await(
        "the lease is free",
        () -> {
          try {
            opened.set(file.getDirectOutputStream(0));
            return true;
          } catch (WriteLeaseHeldException e) {
            return false;
          }
        });
    return opened.get();
  }

  @Override
  public void close() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }
}

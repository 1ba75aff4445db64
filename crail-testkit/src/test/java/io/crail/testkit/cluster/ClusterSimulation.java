/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.config.Configuration;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.part.ClassUsage;
import io.crail.testkit.sim.SimulatedDatanode;
import io.crail.testkit.sim.SimulatedDisk;
import io.crail.testkit.sim.SimulatedNamenode;
import io.crail.testkit.sim.SimulatedNetwork;
import io.crail.testkit.sim.SimulatedTier;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;

/**
 * One run of a simulated cluster. The seed decides its shape. Clients load it during storms of
 * faults and calms between them. A result that cannot be true ends the run. Everything happens in
 * the thread that calls {@link #run}. Operations of the API that wait for an answer run one after
 * the other; all others run at the same time.
 */
final class ClusterSimulation implements AutoCloseable {
  static final Duration LEASE = Duration.ofSeconds(2);
  static final Duration MARGIN = Duration.ofMillis(1000);
  static final Duration RPC_TIMEOUT = Duration.ofSeconds(1);
  static final Duration DATA_TIMEOUT = Duration.ofSeconds(3);
  static final Duration SPACE_PATIENCE = Duration.ofSeconds(2);

  private static final Duration FAST = Duration.ofNanos(10_000);
  private static final Duration SLICE = Duration.ofMillis(5);
  private static final Duration AUDIT = Duration.ofMillis(200);
  private static final Duration STORM = Duration.ofSeconds(6);
  private static final Duration CALM = Duration.ofSeconds(2);
  private static final int STORMS = 2;
  private static final int BLOCK = 64 << 10;
  private static final int REGION = 4 * BLOCK;
  private static final int REGIONS = 8;

  private final long seed;
  private final Random random;
  private final SimulatedNetwork network;
  private final Configuration configuration;
  private final Map<String, SimulatedTier> tiers = new TreeMap<>();
  private final List<SimulatedNamenode> namenodes = new ArrayList<>();
  private final List<SimulatedDatanode> datanodes = new ArrayList<>();
  private final List<SimulatedUser> users = new ArrayList<>();
  private final Queue<SimulatedUser.WaitingAction> waiting = new ArrayDeque<>();
  private final World world;
  private final Nemesis nemesis;
  private final boolean faults;
  private Throwable violation;
  private int usersMade;

  /** Creates a cluster, with faults or without. */
  ClusterSimulation(long seed, boolean faults) throws Exception {
    this.seed = seed;
    this.faults = faults;
    network = new SimulatedNetwork(seed);
    network.driveIdleLoops(true);
    random = network.random();
    int[] counts = {1, 1, 2, 4};
    int namenodeCount = counts[random.nextInt(counts.length)];
    int datanodeCount = 2 + random.nextInt(3);
    boolean keepsBytes = random.nextBoolean();
    configuration = configuration(namenodeCount, keepsBytes);
    world = new World(this, namenodeCount, keepsBytes);
    boolean isDurable = random.nextBoolean();
    for (int i = 0; i < namenodeCount; i++) {
      InetSocketAddress address = InetSocketAddress.createUnresolved("namenode" + i, 9060);
      SimulatedDisk disk = isDurable ? new SimulatedDisk(random) : null;
      namenodes.add(new SimulatedNamenode(network, configuration, i, namenodeCount, address, disk));
    }
    // The kinds of tiers: those that check generations, those that do not, or both.
    int kinds = random.nextInt(3);
    for (int i = 0; i < datanodeCount; i++) {
      boolean oneSided = kinds == 1 || (kinds == 2 && i % 2 == 1);
      InetSocketAddress address = InetSocketAddress.createUnresolved("datanode" + i, 50_020);
      int storageClass = kinds == 2 && oneSided ? 1 : 0;
      datanodes.add(
          new SimulatedDatanode(network, configuration, tier(oneSided), storageClass, address));
    }
    nemesis = new Nemesis(this);
    settleDatanodes();
    int userCount = 2 + random.nextInt(3);
    for (int i = 0; i < userCount; i++) {
      newUser();
    }
    auditLater();
  }

  private Configuration configuration(int namenodeCount, boolean keepsBytes) {
    StringBuilder addresses = new StringBuilder("crail://namenode0:9060");
    for (int i = 1; i < namenodeCount; i++) {
      addresses.append(",namenode").append(i).append(":9060");
    }
    return Configuration.builder()
        .set("crail.namenode.address", addresses.toString(), "test")
        .set("crail.client.host", "client", "test")
        .set("crail.client.loops", "1", "test")
        .set("crail.blocksize", Integer.toString(BLOCK), "test")
        .set("crail.buffersize", "16k", "test")
        .set("crail.slicesize", "8k", "test")
        .set("crail.cachelimit", "1m", "test")
        .set("crail.directoryrandomize", "false", "test")
        .set("crail.storage.classes", "2", "test")
        .set("crail.rpctimeout", RPC_TIMEOUT.toMillis() + "ms", "test")
        .set("crail.datatimeout", DATA_TIMEOUT.toMillis() + "ms", "test")
        .set("crail.client.spacepatience", SPACE_PATIENCE.toMillis() + "ms", "test")
        .set("crail.storage.keepalive", "250ms", "test")
        .set("crail.lease", LEASE.toMillis() + "ms", "test")
        .set("crail.namenode.freemargin", MARGIN.toMillis() + "ms", "test")
        .set("crail.namenode.smallvalue", keepsBytes ? "1k" : "0", "test")
        .set("crail.namenode.smallfiles", Boolean.toString(random.nextBoolean()), "test")
        .build();
  }

  private SimulatedTier tier(boolean oneSided) {
    return tiers.computeIfAbsent(
        oneSided ? "onesided" : "checking",
        name -> {
          SimulatedTier tier = new SimulatedTier(name, random, network, REGIONS, REGION);
          tier.oneSided(oneSided);
          tier.lateWrites(true);
          tier.latency(FAST, Duration.ofMillis(2));
          return tier;
        });
  }

  long seed() {
    return seed;
  }

  Random random() {
    return random;
  }

  SimulatedNetwork network() {
    return network;
  }

  World world() {
    return world;
  }

  List<SimulatedNamenode> namenodes() {
    return namenodes;
  }

  List<SimulatedDatanode> datanodes() {
    return datanodes;
  }

  Iterable<SimulatedTier> tiers() {
    return tiers.values();
  }

  /** The faults so far. */
  String history() {
    return nemesis.history();
  }

  List<SimulatedUser> users() {
    return users;
  }

  long now() {
    return network.clock().nanoTime();
  }

  /** A result cannot be true. The run ends with the first such failure. */
  void violated(Throwable what) {
    if (violation == null) {
      violation = what;
    }
  }

  /** Queues a task that waits for an answer, until no other such task waits. */
  void wait(SimulatedUser.WaitingAction task) {
    waiting.add(task);
  }

  /** Adds a client. */
  SimulatedUser newUser() {
    String host = "client" + usersMade++;
    SimulatedUser user = new SimulatedUser(this, host, newStore(host));
    users.add(user);
    user.live();
    return user;
  }

  private CrailStore newStore(String host) {
    return CoreStore.open(
        configuration, network.transport(host), network.clock(), tiers::get, random);
  }

  /** The whole run, from the first operation to the last free byte. */
  void run() throws Exception {
    for (int i = 0; i < STORMS; i++) {
      if (faults) {
        nemesis.storm(STORM);
      }
      runFor(STORM);
      calm();
      runFor(CALM);
      world.strict(false);
    }
    finish();
  }

  private void calm() throws Exception {
    nemesis.heal();
    users.forEach(SimulatedUser::greetAll);
    // Only a timeout finds a connection that has fallen silent.
    runFor(Duration.ofMillis(2300));
    users.forEach(SimulatedUser::greetAll);
    settleDatanodes();
    runFor(LEASE.plus(MARGIN));
    world.settle();
    world.strict(true);
  }

  private void settleDatanodes() throws Exception {
    long deadline = now() + Duration.ofSeconds(10).toNanos();
    while (!datanodes.stream().allMatch(SimulatedDatanode::isRegistered)) {
      if (now() - deadline > 0) {
        throw new AssertionError("a datanode is not registered again");
      }
      runFor(SLICE);
    }
  }

  /** Lets time pass. The clients run their random operations meanwhile. */
  void runFor(Duration span) throws Exception {
    long end = now() + span.toNanos();
    while (now() - end < 0) {
      check();
      network.bury();
      SimulatedUser.WaitingAction next = nextWaiting();
      if (next == null) {
        network.runFor(SLICE);
      } else {
        next.run();
      }
    }
    check();
  }

  private SimulatedUser.WaitingAction nextWaiting() {
    for (SimulatedUser.WaitingAction each : waiting) {
      if (!network.isPaused(each.user().host())) {
        waiting.remove(each);
        return each;
      }
    }
    return null;
  }

  private void check() {
    if (violation != null) {
      throw new AssertionError(violation.getMessage(), violation);
    }
  }

  /** Checks everything now and then, while operations are in progress. */
  private void auditLater() {
    network.schedule(
        AUDIT,
        () -> {
          try {
            for (SimulatedNamenode each : namenodes) {
              if (each.server() != null) {
                each.server().verify();
              }
            }
            world.checkDeadlines();
          } catch (AssertionError e) {
            violated(e);
          }
          auditLater();
        });
  }

  // The end.

  private void finish() throws Exception {
    nemesis.heal();
    users.forEach(SimulatedUser::rest);
    runFor(Duration.ofSeconds(1));
    world.awaitAll();
    world.requireNothingPending();
    for (SimulatedUser user : users) {
      user.closeStreams();
    }
    // What the client does on its own may wait for several writes of a slow disk.
    runFor(Duration.ofSeconds(5));
    for (SimulatedUser user : users) {
      if (network.outstanding(user.host()) != 0) {
        throw new AssertionError(
            user.host()
                + " has "
                + network.outstanding(user.host())
                + " operations that never end");
      }
      user.store().close();
    }
    users.clear();
    world.settle();
    world.lifetimes().quiet(now());
    runFor(LEASE.multipliedBy(2).plus(MARGIN.multipliedBy(2)));
    requireNoLeases();
    SimulatedUser auditor = newUser();
    auditor.rest();
    world.strict(true);
    auditor.checkAll();
    auditor.appendToAll();
    auditor.checkAll();
    if (random.nextBoolean()) {
      auditor.deleteAll();
    } else {
      auditor.expireAll();
    }
    runFor(LEASE.multipliedBy(2).plus(MARGIN.multipliedBy(2)));
    auditor.store().close();
    users.clear();
    requireNoLeases();
    requireAllFree();
    runFor(Duration.ofSeconds(1));
    for (SimulatedNamenode each : namenodes) {
      for (long i = each.snapshots(); i > 0; i--) {
        world.count("snapshot", "ok");
      }
    }
  }

  private void requireNoLeases() {
    for (SimulatedNamenode each : namenodes) {
      NameNodeServer.Holdings holdings = each.server().holdings();
      if (holdings.leases() != 0
          || holdings.leaseHolders() != 0
          || holdings.awaitedWriters() != 0) {
        throw new AssertionError(each.host() + " keeps leases without a holder: " + holdings);
      }
    }
  }

  private void requireAllFree() {
    long capacity = 0;
    for (SimulatedNamenode each : namenodes) {
      each.server().verify();
      NameNodeServer.Holdings holdings = each.server().holdings();
      if (holdings.nodes() != 1 || holdings.smallValueBytes() != 0) {
        throw new AssertionError(each.host() + " keeps what was deleted: " + holdings);
      }
      for (ClassUsage usage : holdings.usage()) {
        if (usage.freeBytes() != usage.capacityBytes()) {
          throw new AssertionError(each.host() + " has not got all space back: " + usage);
        }
        capacity += usage.capacityBytes();
      }
    }
    if (capacity != (long) datanodes.size() * REGIONS * REGION) {
      throw new AssertionError(
          "the namenodes have "
              + capacity
              + " bytes of the datanodes: "
              + namenodes.stream().map(each -> each.server().holdings()).toList());
    }
  }

  @Override
  public void close() throws Exception {
    for (SimulatedUser user : users) {
      if (!network.isDead(user.host())) {
        network.kill(user.host(), true);
      }
    }
    network.bury();
    datanodes.forEach(SimulatedDatanode::close);
    namenodes.forEach(SimulatedNamenode::close);
  }
}

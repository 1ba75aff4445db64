/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.client.CoreStore;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.DirectoryUsage;
import io.crail.compound.Lifetime;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.storage.StorageTier;
import io.crail.testkit.sim.SimulatedNamenode;
import io.crail.testkit.sim.SimulatedNetwork;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The limits of a spread directory while connections break, namenodes cannot reach each other, and
 * start again; in virtual time. After each step all files are counted, at all namenodes.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class SimulatedQuotaTest {
  private static final int SEEDS = Boolean.getBoolean("crail.test.long") ? 200 : 8;
  private static final int STEPS = 400;
  private static final int CHILDREN = 60;
  private static final String DIRECTORY = "/limited";

  /** What is done with a cluster. */
  private interface Script {
    void perform(Run run) throws Exception;
  }

  private static void perform(Script script) throws Exception {
    long given = Long.getLong("crail.seed", 0);
    perform(given != 0 ? given : System.nanoTime(), new EnumMap<>(ErrorCode.class), script);
  }

  private static void perform(long seed, Map<ErrorCode, Integer> outcomes, Script script)
      throws Exception {
    try (Run run = new Run(seed, outcomes)) {
      try {
        script.perform(run);
      } catch (Exception | AssertionError e) {
        throw new AssertionError(
            "-Dcrail.seed=" + seed + " " + e.getMessage() + " after\n" + run.trail(), e);
      }
    }
  }

  @Test
  void thereAreNeverMoreThanTheLimit() throws Exception {
    long given = Long.getLong("crail.seed", 0);
    long first = given != 0 ? given : System.nanoTime();
    Map<ErrorCode, Integer> outcomes = new EnumMap<>(ErrorCode.class);
    for (long seed = first; seed < first + (given != 0 ? 1 : SEEDS); seed++) {
      perform(
          seed,
          outcomes,
          run -> {
            run.steps();
            run.finish();
          });
    }
    System.out.println("outcomes " + outcomes);
    assertTrue(outcomes.containsKey(ErrorCode.QUOTA_EXCEEDED), outcomes::toString);
  }

  /** What else a list with limits says is said to all namenodes as well. */
  @Test
  void aLifetimeOfChildrenIsSetWithLimits() throws Exception {
    perform(Run::childrenEnd);
  }

  @Test
  void limitsThatAreRefusedLeaveNoQuota() throws Exception {
    perform(Run::limitTooLate);
  }

  /** A namenode that is started again has no share for a while. */
  @Test
  void limitsMayBeChangedOnceAllSharesAreThere() throws Exception {
    perform(Run::limitBesideStarts);
  }

  /** One cluster. */
  private static final class Run implements AutoCloseable {
    private final Map<ErrorCode, Integer> outcomes;
    private final SimulatedNetwork network;
    private final Random random;
    private final int count;
    private final int limit;
    private final List<SimulatedNamenode> namenodes = new ArrayList<>();
    private final CrailStore store;
    private final List<String> trail = new ArrayList<>();
    private boolean limited;

    Run(long seed, Map<ErrorCode, Integer> outcomes) throws Exception {
      this.outcomes = outcomes;
      network = new SimulatedNetwork(seed);
      network.driveIdleLoops(true);
      random = network.random();
      count = 2 + random.nextInt(3);
      limit = 1 + random.nextInt(CHILDREN / 2);
      StringBuilder addresses = new StringBuilder();
      for (int i = 0; i < count; i++) {
        addresses.append(i == 0 ? "crail://" : ",").append(host(i)).append(":9060");
      }
      Configuration configuration =
          Configuration.builder()
              .set("crail.namenode.address", addresses.toString(), "test")
              .set("crail.client.host", "client", "test")
              .set("crail.client.loops", "1", "test")
              .set("crail.rpctimeout", "4s", "test")
              .build();
      for (int i = 0; i < count; i++) {
        namenodes.add(
            new SimulatedNamenode(
                network,
                configuration,
                i,
                count,
                InetSocketAddress.createUnresolved(host(i), 9060)));
      }
      store =
          CoreStore.open(
              configuration,
              network.transport("client"),
              network.clock(),
              StorageTier::find,
              random);
    }

    private static String host(int namenode) {
      return "namenode" + namenode;
    }

    String trail() {
      return String.join("\n", trail.subList(Math.max(0, trail.size() - 40), trail.size()));
    }

    private void did(String what) {
      trail.add(network.clock().nanoTime() / 1_000_000 + " ms " + what + ", " + files() + " files");
    }

    private long files() {
      long files = 0;
      for (SimulatedNamenode each : namenodes) {
        if (each.server() != null) {
          files += each.server().holdings().nodesByType().getOrDefault(NodeType.DATAFILE, 0L);
        }
      }
      return files;
    }

    void steps() throws Exception {
      for (int step = 0; step < STEPS; step++) {
        if (!limited) {
          begin();
        }
        if (random.nextInt(12) == 0) {
          fault();
        }
        act();
        assertTrue(!limited || files() <= limit, () -> files() + " files, the limit is " + limit);
      }
    }

    private void make() throws Exception {
      ErrorCode made =
          end(
              store.createSpread(
                  DIRECTORY,
                  CrailNodeType.DIRECTORY,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  true));
      assertEquals(ErrorCode.OK, made);
    }

    private ErrorCode create(String child) throws Exception {
      return end(
          store.create(
              child,
              CrailNodeType.DATAFILE,
              CrailStorageClass.PARENT,
              CrailLocationClass.PARENT,
              true));
    }

    private int owner() {
      return NodePath.namenodeOf(Utf8.of(DIRECTORY), count);
    }

    /** The outcome of a list, or of its step that has failed. */
    private ErrorCode operate(CompoundOperation.Builder steps) throws Exception {
      try {
        store.operate(DIRECTORY, steps.build()).get().orThrow();
        return ErrorCode.OK;
      } catch (ExecutionException e) {
        return ((CrailException) e.getCause()).code();
      } catch (CrailException e) {
        return e.code();
      }
    }

    private ErrorCode limit(long names) throws Exception {
      return operate(CompoundOperation.builder().limit(-1, names));
    }

    void childrenEnd() throws Exception {
      make();
      CompoundOperation.Builder steps =
          CompoundOperation.builder().limit(-1, 10_000).expireChildren(new Lifetime(10_000, false));
      assertEquals(ErrorCode.OK, operate(steps));
      for (int i = 0; i < CHILDREN; i++) {
        assertEquals(ErrorCode.OK, create(DIRECTORY + "/child" + i));
      }
      assertEquals(CHILDREN, files());
      network.runFor(Duration.ofSeconds(11));
      assertEquals(0, files());
    }

    void limitTooLate() throws Exception {
      make();
      int i = 0;
      while (NodePath.namenodeOf(Utf8.of("/child" + i), count) == owner()) {
        i++;
      }
      assertEquals(ErrorCode.OK, create(DIRECTORY + "/child" + i));
      assertEquals(ErrorCode.NOT_EMPTY, limit(5));
      network.runFor(Duration.ofSeconds(1));
      assertEquals(ErrorCode.CONDITION_FAILED, operate(CompoundOperation.builder().readUsage()));
      assertEquals(ErrorCode.OK, end(store.delete(DIRECTORY + "/child" + i, false)));
      network.runFor(Duration.ofSeconds(1));
      assertEquals(ErrorCode.OK, limit(5));
      assertEquals(ErrorCode.OK, operate(CompoundOperation.builder().readUsage()));
    }

    void limitBesideStarts() throws Exception {
      make();
      assertEquals(ErrorCode.OK, limit(10_000));
      for (int i = 0; i < CHILDREN; i++) {
        assertEquals(ErrorCode.OK, create(DIRECTORY + "/child" + i));
      }
      Set<ErrorCode> outcomes = EnumSet.noneOf(ErrorCode.class);
      for (int i = 0; i < 20; i++) {
        restart((owner() + 1) % count);
        network.runFor(Duration.ofMillis(random.nextInt(500)));
        outcomes.add(limit(5_000 + i));
        assertEquals(ErrorCode.OK, operate(CompoundOperation.builder().readUsage()));
        network.runFor(Duration.ofSeconds(10));
        assertEquals(ErrorCode.OK, limit(6_000 + i));
      }
      outcomes.remove(ErrorCode.OK);
      assertEquals(EnumSet.of(ErrorCode.UNAVAILABLE), outcomes);
    }

    private void begin() throws Exception {
      heal();
      network.runFor(Duration.ofSeconds(10));
      end(store.delete(DIRECTORY, true));
      make();
      CompoundOperation names = CompoundOperation.builder().limit(-1, limit).build();
      store.operate(DIRECTORY, names).get().orThrow();
      limited = true;
      did("limit " + limit);
    }

    private void fault() throws Exception {
      int a = random.nextInt(count);
      int b = random.nextInt(count);
      switch (random.nextInt(6)) {
        case 0 -> network.breakConnections(0.05);
        case 1, 2 -> {
          if (a != b) {
            network.partition(host(a), host(b));
          }
        }
        case 3 -> restart(a);
        default -> heal();
      }
    }

    private void heal() {
      network.breakConnections(0);
      for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) {
          network.heal(host(a), host(b));
        }
      }
      did("healed");
    }

    private void restart(int namenode) throws Exception {
      namenodes.get(namenode).kill(random.nextBoolean());
      network.runFor(Duration.ofMillis(random.nextInt(100)));
      namenodes.get(namenode).restart();
      limited &= owner() != namenode;
      did("restarted " + namenode + " of " + count);
    }

    private static ErrorCode end(Upcoming<?> operation) throws Exception {
      try {
        return operation.get() == null ? ErrorCode.NODE_NOT_FOUND : ErrorCode.OK;
      } catch (ExecutionException e) {
        return ((CrailException) e.getCause()).code();
      }
    }

    private void act() throws Exception {
      String child = DIRECTORY + "/child" + random.nextInt(CHILDREN);
      ErrorCode code = random.nextInt(3) == 0 ? end(store.delete(child, false)) : create(child);
      outcomes.merge(code, 1, Integer::sum);
      did(child + " " + code);
      network.runFor(Duration.ofMillis(random.nextInt(300)));
    }

    /** After all faults, the directory takes as many as the limit says, and says how many. */
    void finish() throws Exception {
      if (!limited) {
        begin();
      }
      heal();
      network.runFor(Duration.ofSeconds(10));
      for (int round = 0; round < 40 && files() < limit; round++) {
        for (int i = 0; i < CHILDREN && files() < limit; i++) {
          create(DIRECTORY + "/child" + i);
        }
        network.runFor(Duration.ofSeconds(1));
      }
      assertEquals(limit, files(), "at the end");
      network.runFor(Duration.ofSeconds(1));
      DirectoryUsage usage =
          store
              .operate(DIRECTORY, CompoundOperation.builder().readUsage().build())
              .get()
              .orThrow()
              .usage(0);
      assertEquals(new DirectoryUsage(DIRECTORY, 0, -1, limit, limit), usage);
      for (SimulatedNamenode each : namenodes) {
        each.server().verify();
      }
    }

    @Override
    public void close() throws Exception {
      heal();
      network.runFor(Duration.ofSeconds(10));
      store.close();
      for (SimulatedNamenode namenode : namenodes) {
        namenode.close();
      }
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailNodeType;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import io.crail.testkit.sim.SimulatedNetwork;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Clients stage records and append them to one key, which is sealed meanwhile, while connections
 * break and answers are lost, in virtual time. Each answer says where its record is.
 */
@Tag("once")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class SimulatedStagedTest {
  private static final int SEEDS = Boolean.getBoolean("crail.test.long") ? 200 : 6;
  private static final int CLIENTS = 3;
  private static final int RECORDS = 150;
  private static final String KEY = "/t/log";
  private static final Set<ErrorCode> UNKNOWN = Set.of(ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT);

  @Test
  void eachRecordIsWhereItsAnswerSays() throws Exception {
    long given = Long.getLong("crail.seed", 0);
    long first = given != 0 ? given : System.nanoTime();
    Map<ErrorCode, Integer> outcomes = new EnumMap<>(ErrorCode.class);
    for (long seed = first; seed < first + (given != 0 ? 1 : SEEDS); seed++) {
      try (SimulatedCluster cluster =
          SimulatedCluster.oneSided(seed, 64 << 20, "crail.lease=10s", "crail.blocksize=64k")) {
        Run run = new Run(cluster, outcomes);
        try {
          run.append();
          run.verify();
        } catch (Exception | AssertionError e) {
          throw new AssertionError("-Dcrail.seed=" + seed + " " + e.getMessage(), e);
        }
      }
    }
    System.out.println("outcomes " + outcomes);
    assertTrue(
        given != 0
            || outcomes.containsKey(ErrorCode.OK)
                && outcomes.containsKey(ErrorCode.CONDITION_FAILED),
        outcomes.toString());
  }

  private static byte[] record(int number) {
    Random random = new Random(number);
    byte[] bytes = Bytes.random(random, 8 + random.nextInt(100_000));
    ByteBuffer.wrap(bytes).putInt(number).putInt(bytes.length);
    return bytes;
  }

  /** A list on its way. */
  private record Call(
      int number, int length, StagedBytes staged, Upcoming<CompoundResult> upcoming) {}

  private static final class Run {
    private final SimulatedCluster cluster;
    private final SimulatedNetwork network;
    private final Random random;
    private final Map<ErrorCode, Integer> outcomes;
    private final List<CrailStore> stores = new ArrayList<>();
    // The end of each record that was acknowledged.
    private final Map<Integer, Long> ends = new HashMap<>();
    private final Set<Integer> refused = new HashSet<>();
    // Those whose guard names the epoch before the seal.
    private final Set<Integer> early = new HashSet<>();
    private long sealed = Long.MAX_VALUE;

    Run(SimulatedCluster cluster, Map<ErrorCode, Integer> outcomes) throws Exception {
      this.cluster = cluster;
      this.network = cluster.network();
      this.random = network.random();
      this.outcomes = outcomes;
      network.driveIdleLoops(true);
      for (int i = 0; i < CLIENTS; i++) {
        stores.add(cluster.newStore(host(i)));
      }
      Bytes.create(stores.get(0), "/t", CrailNodeType.TABLE);
      stores.get(0).operate(KEY, CompoundOperation.builder().create().build()).get().orThrow();
    }

    private static String host(int client) {
      return "client" + client;
    }

    void append() throws Exception {
      List<Call> pending = new ArrayList<>();
      for (int number = 0; number < RECORDS; number++) {
        if (random.nextInt(10) == 0) {
          fault();
        }
        if (number == RECORDS * 2 / 3) {
          seal();
        }
        begin(number, pending);
        while (pending.size() > random.nextInt(5)) {
          end(pending.remove(random.nextInt(pending.size())));
        }
      }
      heal();
      for (Call call : pending) {
        end(call);
      }
    }

    private void fault() throws Exception {
      String client = host(random.nextInt(CLIENTS));
      switch (random.nextInt(4)) {
        case 0 -> network.breakConnections(0.03);
        case 1 -> network.partition(client, SimulatedCluster.NAMENODE);
        case 2 -> network.cut(client, SimulatedCluster.NAMENODE);
        default -> heal();
      }
    }

    private void heal() throws Exception {
      network.breakConnections(0);
      for (int i = 0; i < CLIENTS; i++) {
        network.heal(host(i), SimulatedCluster.NAMENODE);
      }
      network.runFor(Duration.ofMillis(100));
      for (CrailStore store : stores) {
        // An attempt to connect may have begun before.
        TestCluster.await("a connection", () -> isConnected(store));
      }
    }

    /** While lists are on their way, whose guards name the old epoch. */
    private void seal() throws Exception {
      heal();
      CompoundOperation seal = CompoundOperation.builder().raiseEpoch(1).readSize().build();
      sealed = stores.get(0).operate(KEY, seal).get().orThrow().number(1);
    }

    private boolean isConnected(CrailStore store) throws Exception {
      try {
        store.lookup("/nothing").get();
        return true;
      } catch (ExecutionException e) {
        assertEquals(ErrorCode.UNAVAILABLE, ((CrailException) e.getCause()).code());
        return false;
      }
    }

    private void begin(int number, List<Call> pending) throws Exception {
      byte[] bytes = record(number);
      // Some writers hear of the seal late.
      final int epoch =
          sealed == Long.MAX_VALUE || number < RECORDS * 4 / 5 && random.nextBoolean() ? 0 : 1;
      if (epoch == 0) {
        early.add(number);
      }
      CrailStore store = stores.get(random.nextInt(CLIENTS));
      try {
        StagedBytes staged = store.stage(KEY, Bytes.buffer(bytes)).get();
        CompoundOperation list =
            CompoundOperation.builder()
                .requireEpoch(Comparison.AT_MOST, epoch)
                .append(staged)
                .build();
        pending.add(new Call(number, bytes.length, staged, store.operate(KEY, list)));
      } catch (ExecutionException e) {
        count(e);
        refused.add(number);
      }
    }

    private void count(ExecutionException e) {
      ErrorCode code = ((CrailException) e.getCause()).code();
      outcomes.merge(code, 1, Integer::sum);
      // A lease may run out while nothing gets through.
      assertTrue(UNKNOWN.contains(code) || code == ErrorCode.WRITE_LEASE_LOST, e.toString());
    }

    private void end(Call call) throws Exception {
      try {
        CompoundResult result = call.upcoming.get();
        ErrorCode code = result.isSuccess() ? ErrorCode.OK : result.code(result.failedStep());
        outcomes.merge(code, 1, Integer::sum);
        if (result.isSuccess()) {
          ends.put(call.number, result.number(1));
          assertEquals(result.size(), result.number(1));
        } else {
          refused.add(call.number);
        }
      } catch (ExecutionException e) {
        count(e);
      }
      call.staged.close();
    }

    void verify() throws Exception {
      CrailStore store = stores.get(0);
      CrailBuffer buffer = Bytes.empty(RECORDS * 100_008);
      buffer.position((int) store.get(KEY, buffer).get().getLen());
      byte[] all = Bytes.bytesOf(buffer);
      Set<Integer> found = new HashSet<>();
      boolean isEnd = false;
      for (int at = 0; at < all.length; ) {
        isEnd |= at == sealed;
        ByteBuffer head = ByteBuffer.wrap(all, at, 8);
        int number = head.getInt();
        int length = head.getInt();
        assertArrayEquals(record(number), Arrays.copyOfRange(all, at, at + length));
        assertTrue(found.add(number), "twice: " + number);
        assertFalse(refused.contains(number), "refused: " + number);
        assertTrue(at < sealed || !early.contains(number), "after the seal: " + number);
        at += length;
        Long end = ends.remove(number);
        assertTrue(end == null || end == at, number + " ends at " + at + ", not at " + end);
      }
      assertTrue(isEnd || sealed == all.length, "no record ends with the seal");
      assertEquals(Map.of(), ends, "acknowledged, and not there");
      store.delete(KEY, false).get();
      TestCluster.await(
          "all space comes back",
          () -> {
            cluster.drive(store, Duration.ofSeconds(1));
            return cluster.usage().usedBytes() == 0;
          });
    }
  }
}

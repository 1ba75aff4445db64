/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.testkit.sim.SimulatedNetwork;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Histories of compound operations of several clients while connections break and answers are lost,
 * in virtual time. The version of a node says in which order its changes took place, so a history
 * is linearizable if these orders explain all answers and agree with the times of the calls.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class SimulatedCompoundTest {
  private static final int SEEDS = Boolean.getBoolean("crail.test.long") ? 400 : 12;
  private static final int CLIENTS = 4;
  private static final int CALLS = 600;
  private static final int KEYS = 2;
  private static final int MOST = 64 << 10;

  /** Errors after which it is not known what happened. */
  private static final Set<ErrorCode> UNKNOWN = Set.of(ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT);

  /** Why a step may fail. */
  private static final Set<ErrorCode> FAILURES =
      Set.of(ErrorCode.CONDITION_FAILED, ErrorCode.NODE_NOT_FOUND);

  @Test
  void versionsExplainAllAnswers() throws Exception {
    long given = Long.getLong("crail.seed", 0);
    long first = given != 0 ? given : System.nanoTime();
    Map<ErrorCode, Integer> outcomes = new EnumMap<>(ErrorCode.class);
    for (long seed = first; seed < first + (given != 0 ? 1 : SEEDS); seed++) {
      try (SimulatedCluster cluster = cluster(seed)) {
        Run run = new Run(cluster, outcomes);
        try {
          run.calls();
          run.verify();
        } catch (Exception | AssertionError e) {
          throw new AssertionError("-Dcrail.seed=" + seed + " " + e.getMessage(), e);
        }
      }
    }
    System.out.println("outcomes " + outcomes);
    assertTrue(
        given != 0
            || outcomes.keySet().containsAll(FAILURES) && outcomes.containsKey(ErrorCode.TIMED_OUT),
        outcomes.toString());
  }

  private static SimulatedCluster cluster(long seed) throws Exception {
    return new SimulatedCluster(seed);
  }

  private enum Kind {
    APPEND,
    REPLACE,
    SEAL,
    DELETE,
    READ
  }

  /** A call, and what became of it. */
  private static final class Call {
    private final Kind kind;
    private final int key;
    private final String text;
    private final long epoch;
    // The node that a delete is for.
    private final long target;
    private final int began;
    private Upcoming<CompoundResult> upcoming;
    private int ended = Integer.MAX_VALUE;
    // Null when the outcome is unknown.
    private CompoundResult result;
    private String content;

    Call(Kind kind, int key, String text, long epoch, long target, int began) {
      this.kind = kind;
      this.key = key;
      this.text = text;
      this.epoch = epoch;
      this.target = target;
      this.began = began;
    }

    boolean isDone() {
      return result != null && result.isSuccess();
    }

    String after(String before) {
      return switch (kind) {
        case APPEND -> before + text;
        case REPLACE -> text;
        default -> before;
      };
    }

    @Override
    public String toString() {
      String end = result == null ? "unknown" : "node " + result.id() + " v" + result.version();
      return String.format(
          "[%d-%d] %s %d %s e%d: %s %s", began, ended, kind, key, text, epoch, end, content);
    }
  }

  private static final class Run {
    private final Map<ErrorCode, Integer> outcomes;
    private final SimulatedNetwork network;
    private final Random random;
    private final List<CrailStore> stores = new ArrayList<>();
    private final List<Call> calls = new ArrayList<>();
    private final long[] epochs = new long[KEYS];
    private final Map<Integer, Long> ids = new HashMap<>();
    private final Map<Integer, Long> versions = new HashMap<>();
    private int time;

    Run(SimulatedCluster cluster, Map<ErrorCode, Integer> outcomes) throws Exception {
      this.outcomes = outcomes;
      network = cluster.network();
      network.driveIdleLoops(true);
      random = network.random();
      for (int i = 0; i < CLIENTS; i++) {
        stores.add(cluster.newStore(host(i)));
      }
      stores
          .get(0)
          .create(
              "/t",
              CrailNodeType.TABLE,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get();
    }

    private static String host(int client) {
      return "client" + client;
    }

    void calls() throws Exception {
      List<Call> pending = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        if (random.nextInt(25) == 0) {
          fault();
        }
        pending.add(begin());
        while (pending.size() > random.nextInt(8)) {
          end(pending.remove(random.nextInt(pending.size())));
        }
      }
      heal();
      for (Call call : pending) {
        end(call);
      }
    }

    private void fault() {
      String client = host(random.nextInt(CLIENTS));
      switch (random.nextInt(4)) {
        case 0 -> network.breakConnections(0.03);
        case 1 -> network.partition(client, SimulatedCluster.NAMENODE);
        case 2 -> network.cut(client, SimulatedCluster.NAMENODE);
        default -> heal();
      }
    }

    private void heal() {
      network.breakConnections(0);
      for (int i = 0; i < CLIENTS; i++) {
        network.heal(host(i), SimulatedCluster.NAMENODE);
      }
      network.runFor(Duration.ofMillis(100));
    }

    private Call begin() throws Exception {
      int key = random.nextInt(KEYS);
      int number = calls.size();
      int chance = random.nextInt(20);
      Kind kind =
          chance < 11
              ? Kind.APPEND
              : chance < 13
                  ? Kind.REPLACE
                  : chance < 15 ? Kind.SEAL : chance < 16 ? Kind.DELETE : Kind.READ;
      String text = "<" + number + ">";
      // Some writers have not heard of the last seals.
      long epoch = Math.max(0, epochs[key] - random.nextInt(3) / 2);
      long target = ids.getOrDefault(key, 1L);
      CompoundOperation.Builder list = CompoundOperation.builder();
      if (kind != Kind.READ && kind != Kind.DELETE && random.nextInt(3) == 0) {
        list.create().orGoOn();
      }
      if (kind != Kind.SEAL && kind != Kind.READ && random.nextInt(4) == 0) {
        list.requireVersion(Comparison.EQUAL, versions.getOrDefault(key, 1L));
      }
      switch (kind) {
        case APPEND -> list.requireEpoch(Comparison.AT_MOST, epoch).append(bytes(text));
        case REPLACE -> list.requireEpoch(Comparison.AT_MOST, epoch).writeFull(bytes(text));
        case SEAL -> list.raiseEpoch(++epochs[key]);
        case DELETE -> list.requireId(target).delete();
        default -> list.requireExists();
      }
      if (kind != Kind.DELETE) {
        list.read(0, MOST);
      }
      long named = kind == Kind.SEAL ? epochs[key] : epoch;
      Call call = new Call(kind, key, text, named, target, time++);
      calls.add(call);
      call.upcoming = stores.get(random.nextInt(CLIENTS)).operate("/t/k" + key, list.build());
      return call;
    }

    private static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.US_ASCII);
    }

    private void end(Call call) throws Exception {
      try {
        CompoundResult result = call.upcoming.get();
        call.result = result;
        if (result.isSuccess()) {
          int last = result.count() - 1;
          call.content = new String(result.bytes(last), StandardCharsets.US_ASCII);
          ids.put(call.key, result.id());
          versions.put(call.key, result.version());
          outcomes.merge(ErrorCode.OK, 1, Integer::sum);
        } else {
          ErrorCode code = result.code(result.failedStep());
          assertTrue(FAILURES.contains(code), () -> result.failure().toString());
          outcomes.merge(code, 1, Integer::sum);
        }
      } catch (ExecutionException e) {
        ErrorCode code = ((CrailException) e.getCause()).code();
        assertTrue(UNKNOWN.contains(code), e.toString());
        outcomes.merge(code, 1, Integer::sum);
      }
      call.ended = time++;
    }

    void verify() {
      for (int key = 0; key < KEYS; key++) {
        int wanted = key;
        List<Call> done =
            calls.stream().filter(call -> call.key == wanted && call.isDone()).toList();
        List<Call> unknown =
            calls.stream().filter(call -> call.key == wanted && call.result == null).toList();
        Map<Long, TreeMap<Long, Call>> changes = new TreeMap<>();
        for (Call call : done) {
          if (call.kind == Kind.DELETE || call.kind == Kind.READ) {
            continue;
          }
          CompoundResult result = call.result;
          Call other =
              changes
                  .computeIfAbsent(result.id(), id -> new TreeMap<>())
                  .put(result.version(), call);
          assertTrue(other == null, () -> call + " and " + other + " made the same version");
          assertTrue(
              call.kind == Kind.SEAL ? result.epoch() == call.epoch : result.epoch() <= call.epoch,
              () -> "sealed with " + result.epoch() + ": " + call);
        }
        boolean mayBeReplaced = unknown.stream().anyMatch(call -> call.kind == Kind.REPLACE);
        Set<String> refused =
            calls.stream()
                .filter(call -> call.key == wanted && call.result != null && !call.isDone())
                .map(call -> call.text)
                .collect(Collectors.toSet());
        for (TreeMap<Long, Call> versions : changes.values()) {
          verifyVersions(versions, unknown, mayBeReplaced, refused);
        }
        verifyReads(done, changes);
        verifyTimes(done);
      }
    }

    /** Each change has made, of what was there, what its answer says. */
    private static void verifyVersions(
        TreeMap<Long, Call> versions,
        List<Call> unknown,
        boolean mayBeReplaced,
        Set<String> refused) {
      long missing = versions.lastKey() - versions.size();
      assertTrue(
          missing <= unknown.size(),
          () -> missing + " changes that were not asked for: " + versions.values());
      Call before = null;
      for (Call call : versions.values()) {
        if (before == null && call.result.version() == 1) {
          assertEquals(call.after(""), call.content, call.toString());
        } else if (before != null && before.result.version() + 1 == call.result.version()) {
          assertEquals(call.after(before.content), call.content, before + "\n" + call);
        } else if (before != null && !mayBeReplaced && call.kind == Kind.APPEND) {
          assertTrue(call.content.startsWith(before.content), before + "\n" + call);
          assertTrue(call.content.endsWith(call.text), call.toString());
        }
        verifyContent(call, refused);
        before = call;
      }
    }

    /** Nothing took place twice, or although it was refused. */
    private static void verifyContent(Call call, Set<String> refused) {
      Set<String> texts = new HashSet<>();
      for (String text : call.content.split("(?<=>)")) {
        assertTrue(texts.add(text), () -> text + " took place twice: " + call);
        assertTrue(!refused.contains(text), () -> text + " was refused: " + call);
      }
    }

    /** A read sees a version. */
    private static void verifyReads(List<Call> done, Map<Long, TreeMap<Long, Call>> changes) {
      for (Call call : done) {
        if (call.kind == Kind.READ && changes.containsKey(call.result.id())) {
          Call change = changes.get(call.result.id()).get(call.result.version());
          if (change != null) {
            assertEquals(change.content, call.content, change + "\n" + call);
          }
        }
      }
    }

    /** What had ended before a call began comes before it. */
    private static void verifyTimes(List<Call> done) {
      Comparator<CompoundResult> order =
          Comparator.comparingLong(CompoundResult::id).thenComparing(CompoundResult::version);
      List<Call> byEnd =
          done.stream()
              .filter(call -> call.kind != Kind.DELETE)
              .sorted(Comparator.comparingInt(call -> call.ended))
              .toList();
      for (Call later : byEnd) {
        for (Call earlier : byEnd) {
          if (earlier.ended > later.began) {
            break;
          }
          int compared = order.compare(earlier.result, later.result);
          assertTrue(
              later.kind == Kind.READ ? compared <= 0 : compared < 0,
              () -> earlier + "\nended before\n" + later);
        }
      }
      for (Call delete : done) {
        for (Call later : done) {
          assertTrue(
              delete.kind != Kind.DELETE
                  || later.began < delete.ended
                  || later.result.id() != delete.target,
              () -> later + " after " + delete);
        }
      }
    }
  }
}

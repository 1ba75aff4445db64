/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import io.crail.testkit.sim.SimulatedNetwork;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
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
 * is linearizable if these orders explain all answers and agree with the times of the calls. One of
 * the clients also moves the bytes of keys to datanodes, where lists append staged bytes to them.
 * That gives a key another id and leaves its version.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class SimulatedCompoundTest {
  private static final int SEEDS = Boolean.getBoolean("crail.test.long") ? 400 : 8;
  private static final int CLIENTS = 4;
  private static final int CALLS = 600;
  private static final int KEYS = 2;
  private static final int MOST = 64 << 10;

  /** Errors after which it is not known what happened. */
  private static final Set<ErrorCode> UNKNOWN = Set.of(ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT);

  /** Why a step may fail. */
  private static final Set<ErrorCode> FAILURES =
      Set.of(ErrorCode.CONDITION_FAILED, ErrorCode.NODE_NOT_FOUND, ErrorCode.NOT_KEPT);

  /** Why staged bytes may be refused: nothing has renewed their lease. */
  private static final Set<ErrorCode> LOST =
      Set.of(ErrorCode.STALE_NODE, ErrorCode.WRITE_LEASE_LOST);

  private static final String MOVED = "moved";
  private static final String STAGED = "appended at datanodes";

  @Test
  void versionsExplainAllAnswers() throws Exception {
    long given = Long.getLong("crail.seed", 0);
    long first = given != 0 ? given : System.nanoTime();
    Map<String, Integer> outcomes = new TreeMap<>();
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
    Set<String> expected = new HashSet<>(Set.of(ErrorCode.TIMED_OUT.toString(), MOVED, STAGED));
    FAILURES.forEach(code -> expected.add(code.toString()));
    assertTrue(given != 0 || outcomes.keySet().containsAll(expected), outcomes.toString());
  }

  private static SimulatedCluster cluster(long seed) throws Exception {
    return new SimulatedCluster(seed);
  }

  private enum Kind {
    APPEND,
    /** Appends bytes at datanodes. */
    STAGED,
    REPLACE,
    SEAL,
    DELETE,
    READ;

    boolean changesBytes() {
      return this == APPEND || this == STAGED || this == REPLACE;
    }
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
    private StagedBytes staged;
    private Upcoming<CompoundResult> upcoming;
    private int ended = Integer.MAX_VALUE;
    // Null when the outcome is unknown.
    private CompoundResult result;
    private boolean wasNeverSent;
    // Null when it is not known, since the bytes are at datanodes.
    private String content;
    // Of the nodes that the key had one after the other.
    private int life;

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

    boolean isRefused() {
      return wasNeverSent || result != null && !result.isSuccess();
    }

    boolean isUnknown() {
      return !wasNeverSent && result == null;
    }

    String after(String before) {
      return switch (kind) {
        case APPEND, STAGED -> before + text;
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

  /** A key that was read with its bytes, wherever they were, and without its version. */
  private record Look(int key, int began, int ended, String content) {}

  /**
   * The changes of a node by their versions, whatever ids it had.
   *
   * @param hasAll whether it is known to begin with version 1
   */
  private record Life(TreeMap<Long, Call> versions, boolean hasAll) {}

  private static final class Run {
    private final Map<String, Integer> outcomes;
    private final SimulatedNetwork network;
    private final Random random;
    private final List<CrailStore> stores = new ArrayList<>();
    private final List<Call> calls = new ArrayList<>();
    private final List<Look> looks = new ArrayList<>();
    private final long[] epochs = new long[KEYS];
    private final Map<Integer, Long> ids = new HashMap<>();
    private final Map<Integer, Long> versions = new HashMap<>();
    private int time;

    Run(SimulatedCluster cluster, Map<String, Integer> outcomes) throws Exception {
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
        switch (random.nextInt(25)) {
          case 0, 1 -> settle(random.nextInt(KEYS));
          case 2 -> look(random.nextInt(KEYS));
          default -> begin(pending);
        }
        while (pending.size() > random.nextInt(8)) {
          end(pending.remove(random.nextInt(pending.size())));
        }
      }
      heal();
      for (Call call : pending) {
        end(call);
      }
      for (int key = 0; key < KEYS; key++) {
        look(key);
      }
    }

    private void count(String what) {
      outcomes.merge(what, 1, Integer::sum);
    }

    /** Moves the bytes of a key to datanodes while lists are on their way. */
    private void settle(int key) throws Exception {
      try {
        count(stores.get(0).settle(path(key)) ? MOVED : "nothing to move");
      } catch (CrailException e) {
        ErrorCode code = e.code();
        assertTrue(
            UNKNOWN.contains(code)
                || LOST.contains(code)
                || code == ErrorCode.NODE_NOT_FOUND
                || code == ErrorCode.CONDITION_FAILED,
            e.toString());
        count("move " + code);
      }
    }

    private void look(int key) throws Exception {
      final int began = time++;
      CrailBuffer buffer = Bytes.empty(MOST);
      try {
        CrailResult result = stores.get(random.nextInt(CLIENTS)).get(path(key), buffer).get();
        if (result != null && result.getLen() > 0) {
          buffer.position((int) result.getLen());
          String content = new String(Bytes.bytesOf(buffer), StandardCharsets.US_ASCII);
          looks.add(new Look(key, began, time++, content));
          count("looks");
        }
      } catch (ExecutionException e) {
        ErrorCode code = ((CrailException) e.getCause()).code();
        assertTrue(UNKNOWN.contains(code) || code == ErrorCode.STALE_NODE, e.toString());
        count("look " + code);
      }
    }

    private static String path(int key) {
      return "/t/k" + key;
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

    private static Kind kind(int chance) {
      if (chance < 12) {
        return chance < 8 ? Kind.APPEND : Kind.STAGED;
      }
      return switch (chance) {
        case 12 -> Kind.REPLACE;
        case 13, 14 -> Kind.SEAL;
        case 15 -> Kind.DELETE;
        default -> Kind.READ;
      };
    }

    private void begin(List<Call> pending) throws Exception {
      final int key = random.nextInt(KEYS);
      final int number = calls.size();
      final Kind kind = kind(random.nextInt(20));
      String text = "<" + number + ">";
      // Some writers have not heard of the last seals.
      long epoch = Math.max(0, epochs[key] - random.nextInt(3) / 2);
      long target = ids.getOrDefault(key, 1L);
      CompoundOperation.Builder list = CompoundOperation.builder();
      // What is staged before a node is made has the smaller id.
      boolean mayMake = kind != Kind.READ && kind != Kind.DELETE && kind != Kind.STAGED;
      if (mayMake && random.nextInt(3) == 0) {
        list.create().orGoOn();
      }
      if (kind != Kind.SEAL && kind != Kind.READ && random.nextInt(4) == 0) {
        list.requireVersion(Comparison.EQUAL, versions.getOrDefault(key, 1L));
      }
      long named = kind == Kind.SEAL ? epochs[key] + 1 : epoch;
      Call call = new Call(kind, key, text, named, target, time++);
      calls.add(call);
      CrailStore store = stores.get(random.nextInt(CLIENTS));
      if (kind == Kind.STAGED && !stage(store, call)) {
        return;
      }
      switch (kind) {
        case STAGED ->
            list.requireEpoch(Comparison.AT_MOST, epoch)
                .requireSize(Comparison.GREATER, 0)
                .append(call.staged);
        case APPEND -> list.requireEpoch(Comparison.AT_MOST, epoch).append(bytes(text));
        case REPLACE -> list.requireEpoch(Comparison.AT_MOST, epoch).writeFull(bytes(text));
        case SEAL -> list.raiseEpoch(++epochs[key]);
        case DELETE -> list.requireId(target).delete();
        default -> list.requireExists();
      }
      if (kind != Kind.DELETE) {
        list.read(0, MOST).orGoOn();
      }
      call.upcoming = store.operate(path(key), list.build());
      pending.add(call);
    }

    private boolean stage(CrailStore store, Call call) throws Exception {
      try {
        call.staged = store.stage(path(call.key), Bytes.buffer(bytes(call.text))).get();
        return true;
      } catch (ExecutionException e) {
        ErrorCode code = ((CrailException) e.getCause()).code();
        assertTrue(UNKNOWN.contains(code) || LOST.contains(code), e.toString());
        count("stage " + code);
        call.wasNeverSent = true;
        call.ended = time++;
        return false;
      }
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
          if (result.code(last) == ErrorCode.OK) {
            call.content = new String(result.bytes(last), StandardCharsets.US_ASCII);
          } else {
            assertEquals(ErrorCode.NOT_KEPT, result.code(last));
          }
          ids.put(call.key, result.id());
          versions.put(call.key, result.version());
          count(call.kind == Kind.STAGED ? STAGED : ErrorCode.OK.toString());
        } else {
          ErrorCode code = result.code(result.failedStep());
          assertTrue(
              FAILURES.contains(code) || call.kind == Kind.STAGED && LOST.contains(code),
              () -> result.failure().toString());
          count(code.toString());
        }
      } catch (ExecutionException e) {
        ErrorCode code = ((CrailException) e.getCause()).code();
        assertTrue(UNKNOWN.contains(code), e.toString());
        count(code.toString());
      }
      call.ended = time++;
      if (call.staged != null) {
        call.staged.close();
      }
    }

    void verify() {
      for (int key = 0; key < KEYS; key++) {
        int wanted = key;
        List<Call> done =
            calls.stream().filter(call -> call.key == wanted && call.isDone()).toList();
        List<Call> unknown =
            calls.stream().filter(call -> call.key == wanted && call.isUnknown()).toList();
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
                .filter(call -> call.key == wanted && call.isRefused())
                .map(call -> call.text)
                .collect(Collectors.toSet());
        for (Life life : lives(changes, done, unknown)) {
          verifyVersions(life, unknown, mayBeReplaced, refused);
        }
        verifyReads(done, changes);
        verifyTimes(done);
        for (Look look : looks) {
          if (look.key == key) {
            verifyContent(look.content, refused, look);
            verifyLook(look, done);
          }
        }
      }
    }

    /** A node with another id is the same one with its bytes elsewhere, unless it was deleted. */
    private static List<Life> lives(
        Map<Long, TreeMap<Long, Call>> changes, List<Call> done, List<Call> unknown) {
      List<Life> lives = new ArrayList<>();
      Life life = null;
      long before = 0;
      for (Map.Entry<Long, TreeMap<Long, Call>> each : changes.entrySet()) {
        long id = each.getKey();
        boolean ended = life == null || isDeleted(done, before, id);
        if (ended || isDeleted(unknown, before, id)) {
          life = new Life(new TreeMap<>(), ended);
          lives.add(life);
        }
        for (Call call : each.getValue().values()) {
          Call last = life.versions.isEmpty() ? null : life.versions.lastEntry().getValue();
          assertTrue(
              last == null || last.result.version() < call.result.version(),
              () -> last + "\nhas a later version than\n" + call);
          life.versions.put(call.result.version(), call);
          call.life = lives.size();
        }
        before = id;
      }
      return lives;
    }

    /** Whether one of some calls deletes the node with an id from the first up to the second. */
    private static boolean isDeleted(List<Call> among, long from, long to) {
      return among.stream()
          .anyMatch(call -> call.kind == Kind.DELETE && from <= call.target && call.target < to);
    }

    /** Each change has made, of what was there, what its answer says. */
    private static void verifyVersions(
        Life life, List<Call> unknown, boolean mayBeReplaced, Set<String> refused) {
      TreeMap<Long, Call> versions = life.versions;
      long first = life.hasAll ? 1 : versions.firstKey();
      long missing = versions.lastKey() - first + 1 - versions.size();
      assertTrue(
          missing <= unknown.size(),
          () -> missing + " changes that were not asked for: " + versions.values());
      Call before = null;
      for (Call call : versions.values()) {
        String expected = expected(before, call);
        if (call.content == null) {
          call.content = expected;
        } else if (expected != null) {
          assertEquals(expected, call.content, before + "\n" + call);
        } else if (before != null
            && before.content != null
            && !mayBeReplaced
            && call.kind == Kind.APPEND) {
          assertTrue(call.content.startsWith(before.content), before + "\n" + call);
          assertTrue(call.content.endsWith(call.text), call.toString());
        }
        if (call.content != null) {
          assertEquals(call.content.length(), call.result.size(), before + "\n" + call);
          verifyContent(call.content, refused, call);
        }
        if (before != null) {
          assertTrue(before.result.epoch() <= call.result.epoch(), before + "\n" + call);
        }
        before = call;
      }
    }

    /** What there is after a change; null when that is not known. */
    private static String expected(Call before, Call call) {
      long next = before == null ? 1 : before.result.version() + 1;
      if (call.kind == Kind.REPLACE) {
        return call.text;
      }
      if (call.result.version() != next || before != null && before.content == null) {
        return null;
      }
      return call.after(before == null ? "" : before.content);
    }

    /** Nothing took place twice, or although it was refused. */
    private static void verifyContent(String content, Set<String> refused, Object seen) {
      Set<String> texts = new HashSet<>();
      for (String text : content.split("(?<=>)")) {
        assertTrue(texts.add(text), () -> text + " took place twice: " + seen);
        assertTrue(!refused.contains(text), () -> text + " was refused: " + seen);
      }
    }

    /** What was read is what its last change has made, and nothing had followed that one. */
    private void verifyLook(Look look, List<Call> done) {
      int last = look.content.lastIndexOf('<');
      int number = Integer.parseInt(look.content.substring(last + 1, look.content.length() - 1));
      Call seen = calls.get(number);
      if (!seen.isDone()) {
        return;
      }
      if (seen.content != null) {
        assertEquals(seen.content, look.content, () -> seen + "\n" + look);
      }
      Comparator<Call> order =
          Comparator.<Call>comparingInt(call -> call.life)
              .thenComparing(call -> call.result.version());
      for (Call call : done) {
        if (call.kind.changesBytes()) {
          int compared = order.compare(call, seen);
          assertTrue(
              call.ended > look.began || compared <= 0, () -> call + "\nended before\n" + look);
          assertTrue(
              call.began < look.ended || compared > 0, () -> call + "\nbegan after\n" + look);
        }
      }
    }

    /** A read sees a version. */
    private static void verifyReads(List<Call> done, Map<Long, TreeMap<Long, Call>> changes) {
      for (Call call : done) {
        if (call.kind == Kind.READ && changes.containsKey(call.result.id())) {
          Call change = changes.get(call.result.id()).get(call.result.version());
          if (change != null && change.content != null && call.content != null) {
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

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailResult;
import io.crail.CrailStatistics;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.ConditionFailedException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.InvalidArgumentException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bytes of any length that lists of steps link to keys, as programs see it. */
@Timeout(180)
class StagedBytesStoreTest {
  private static final int LARGE = (5 << 20) + 12_345;

  private final Random random = new Random(Bytes.seed("staged bytes"));
  private TestCluster cluster;
  private CrailStore store;

  private void start(int namenodes, String... settings) throws Exception {
    List<String> all = new ArrayList<>(List.of(settings));
    // Also where nothing is small.
    all.add("crail.namenode.smallvalue=64k");
    all.add("crail.blocksize=1m");
    cluster = TestCluster.start(namenodes, 2, all.toArray(new String[0]));
    store = cluster.newStore();
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private static CompoundOperation.Builder list() {
    return CompoundOperation.builder();
  }

  private CompoundResult operate(String path, CompoundOperation.Builder list) throws Exception {
    return store.operate(path, list.build()).get();
  }

  private StagedBytes stage(String path, byte[] bytes) throws Exception {
    return store.stage(path, Bytes.buffer(bytes)).get();
  }

  private static byte[] value(CrailStore from, String path) throws Exception {
    CrailBuffer buffer = Bytes.empty(32 << 20);
    CrailResult result = from.get(path, buffer).get();
    assertTrue(result != null, path);
    buffer.position((int) result.getLen());
    return Bytes.bytesOf(buffer);
  }

  private long used() throws Exception {
    return cluster.usage().usedBytes();
  }

  @Test
  void guardsDecideAboutLargeValues() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    byte[] first = Bytes.random(random, LARGE);
    byte[] second = Bytes.random(random, 70_000);
    final CrailStore other = cluster.newStore();
    try (StagedBytes staged = stage("/t/k", first)) {
      assertEquals(LARGE, staged.length());
      assertNull(store.lookup("/t/k").get());
      CompoundResult made =
          operate("/t/k", list().requireAbsent().create().writeFull(staged).add("version", 1))
              .orThrow();
      assertEquals(LARGE, made.number(2));
      assertArrayEquals(first, value(other, "/t/k"));
      // They are linked, and can be no more.
      CompoundResult again = operate("/t/k", list().writeFull(staged));
      assertEquals(ErrorCode.STALE_NODE, again.code(0));
    }
    // The close did no harm.
    assertArrayEquals(first, value(other, "/t/k"));
    final long used = used();
    try (StagedBytes staged = stage("/t/k", second)) {
      CompoundResult late =
          operate("/t/k", list().requireVersion(Comparison.EQUAL, 7).writeFull(staged));
      assertEquals(ErrorCode.CONDITION_FAILED, late.code(0));
      assertArrayEquals(first, value(other, "/t/k"));
      // The same bytes, for the next try.
      operate(
              "/t/k",
              list()
                  .requireNumber("version", Comparison.EQUAL, 1)
                  .add("version", 1)
                  .writeFull(staged))
          .orThrow();
    }
    assertArrayEquals(second, value(other, "/t/k"));
    TestCluster.await("the space of the first value", () -> used() < used);
    try (StagedBytes unused = stage("/t/k", first)) {
      assertTrue(used() > LARGE);
      assertEquals(LARGE, unused.length());
    }
    TestCluster.await("the space of what was not used", () -> used() < LARGE);
    assertThrows(InvalidArgumentException.class, () -> store.stage("/t/k", Bytes.empty(0)));
  }

  @Test
  void stagedBytesAreAtTheNamenodeOfTheirKey() throws Exception {
    start(3);
    store
        .createSpread(
            "/s", CrailNodeType.TABLE, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
    for (int i = 0; i < 12; i++) {
      byte[] bytes = Bytes.random(random, 100_000 + i);
      try (StagedBytes staged = stage("/s/key-" + i, bytes)) {
        operate("/s/key-" + i, list().create().writeFull(staged)).orThrow();
      }
      assertArrayEquals(bytes, value(store, "/s/key-" + i));
    }
  }

  @Test
  void aSettledKeyKeepsWhatItHasAndGrows() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    byte[] kept = Bytes.random(random, 30_000);
    byte[] more = Bytes.random(random, LARGE);
    final long version =
        operate("/t/k", list().create().append(kept).add("n", 5).raiseEpoch(3)).orThrow().version();
    try (StagedBytes staged = stage("/t/k", more)) {
      CompoundResult refused = operate("/t/k", list().append(staged));
      assertEquals(ErrorCode.NOT_KEPT, refused.code(0));
      assertTrue(store.settle("/t/k"));
      assertFalse(store.settle("/t/k"));
      assertEquals(version, operate("/t/k", list().readSize()).orThrow().version());
      CompoundResult appended =
          operate(
                  "/t/k",
                  list().requireEpoch(Comparison.AT_MOST, 3).append(staged).readAttribute("n"))
              .orThrow();
      assertEquals("5", new String(appended.bytes(2), StandardCharsets.UTF_8));
      assertEquals(3, appended.epoch());
    }
    byte[] all = Arrays.copyOf(kept, kept.length + more.length);
    System.arraycopy(more, 0, all, kept.length, more.length);
    assertArrayEquals(all, value(store, "/t/k"));
    assertThrows(NodeNotFoundException.class, () -> store.settle("/t/none"));
    operate("/t/empty", list().create()).orThrow();
    assertFalse(store.settle("/t/empty"));
  }

  @Test
  void aPutThatIsUnderWayWinsOverASettlement() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    byte[] kept = Bytes.random(random, 3_000);
    byte[] put = Bytes.random(random, LARGE);
    for (int round = 0; round < 10; round++) {
      operate("/t/k" + round, list().create().append(kept).add("n", 5)).orThrow();
      Upcoming<?> putting = cluster.newStore().put("/t/k" + round, Bytes.buffer(put));
      isSettled("/t/k" + round);
      putting.get();
      assertArrayEquals(put, value(store, "/t/k" + round));
    }
  }

  /** Appends until the key is full, while it is settled: each is there once. */
  @Test
  void nothingIsLostBesideASettlement() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    CrailStore other = cluster.newStore();
    final String padding = "-".repeat(500) + "\n";
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      for (int round = 0; round < 10; round++) {
        String key = "/t/" + round;
        operate(key, list().create().append(("0" + padding).getBytes(StandardCharsets.UTF_8)))
            .orThrow();
        Future<Integer> appending =
            executor.submit(
                () -> {
                  for (int i = 1; ; i++) {
                    byte[] line = (i + padding).getBytes(StandardCharsets.UTF_8);
                    CompoundResult result = other.operate(key, list().append(line).build()).get();
                    if (!result.isSuccess()) {
                      assertEquals(ErrorCode.NOT_KEPT, result.code(0));
                      return i;
                    }
                  }
                });
        TestCluster.await("that the key is settled", () -> isSettled(key));
        int lines = appending.get(60, TimeUnit.SECONDS);
        String[] found = new String(value(store, key), StandardCharsets.UTF_8).split("-+\n");
        assertEquals(lines, found.length);
        for (int i = 0; i < lines; i++) {
          assertEquals(String.valueOf(i), found[i]);
        }
      }
    } finally {
      executor.shutdownNow();
    }
  }

  /** False when others were faster each time. */
  private boolean isSettled(String key) throws Exception {
    try {
      return store.settle(key);
    } catch (ConditionFailedException e) {
      return false;
    }
  }

  /** What was acknowledged before the seal is there, and nothing comes after it. */
  @Test
  void manyStoresAppendUntilTheKeyIsSealed() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    operate("/t/log", list().create()).orThrow();
    final int record = 20_000;
    final int writers = 4;
    Set<Integer> acknowledged = new HashSet<>();
    ExecutorService executor = Executors.newFixedThreadPool(writers);
    List<Future<?>> running = new ArrayList<>();
    try {
      for (int i = 0; i < writers; i++) {
        CrailStore own = cluster.newStore();
        int writer = i;
        running.add(
            executor.submit(
                () -> {
                  for (int number = writer; ; number += writers) {
                    if (!append(own, number, record)) {
                      return null;
                    }
                    synchronized (acknowledged) {
                      acknowledged.add(number);
                    }
                  }
                }));
      }
      TestCluster.await(
          "appends",
          () -> {
            synchronized (acknowledged) {
              return acknowledged.size() > 60 || running.stream().anyMatch(Future::isDone);
            }
          });
      long sealed = operate("/t/log", list().raiseEpoch(1).readSize()).orThrow().number(1);
      for (Future<?> each : running) {
        each.get(60, TimeUnit.SECONDS);
      }
      byte[] all = value(store, "/t/log");
      assertEquals(sealed, all.length);
      Set<Integer> found = new HashSet<>();
      for (int at = 0; at < all.length; at += record) {
        int number = ByteBuffer.wrap(all, at, record).getInt();
        assertArrayEquals(record(number, record), Arrays.copyOfRange(all, at, at + record));
        assertTrue(found.add(number), "twice: " + number);
      }
      assertEquals(acknowledged, found);
    } finally {
      executor.shutdownNow();
    }
  }

  private static byte[] record(int number, int length) {
    byte[] bytes = Bytes.random(new Random(number), length);
    ByteBuffer.wrap(bytes).putInt(number);
    return bytes;
  }

  /** Returns false once the key is sealed. */
  private static boolean append(CrailStore own, int number, int length) throws Exception {
    try (StagedBytes staged = own.stage("/t/log", Bytes.buffer(record(number, length))).get()) {
      CompoundOperation list = list().requireEpoch(Comparison.AT_MOST, 0).append(staged).build();
      CompoundResult result = own.operate("/t/log", list).get();
      return result.isSuccess();
    }
  }

  @Test
  void aStoreThatIsClosedLeavesNothing() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    CrailStore closed = cluster.newStore();
    closed.stage("/t/k", Bytes.buffer(Bytes.random(random, LARGE))).get();
    assertTrue(used() >= LARGE);
    closed.close();
    TestCluster.await("space", () -> used() == 0);
  }

  @Test
  void bytesThatAProgramForgetsComeBack() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    store.stage("/t/k", Bytes.buffer(Bytes.random(random, LARGE))).get();
    TestCluster.await(
        "space",
        () -> {
          System.gc();
          // Opening another stream looks for what was dropped.
          stage("/t/other", new byte[10]).close();
          return used() == 0;
        });
  }

  /** Only the list knows them. */
  @Test
  void aListHoldsWhatItLinks() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    byte[] bytes = Bytes.random(random, LARGE);
    CompoundOperation list =
        list().create().writeFull(store.stage("/t/k", Bytes.buffer(bytes)).get()).build();
    store.stage("/t/k", Bytes.buffer(bytes)).get();
    TestCluster.await(
        "the collector",
        () -> {
          System.gc();
          // Opening another stream looks for what was dropped.
          stage("/t/other", new byte[10]).close();
          return used() < 2 * LARGE;
        });
    store.operate("/t/k", list).get().orThrow();
    assertArrayEquals(bytes, value(store, "/t/k"));
  }

  /** The namenode has ended the lease, so its end is not asked for once more. */
  @Test
  void whatIsLinkedIsClosedWithoutARequest() throws Exception {
    start(1);
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    StagedBytes staged = stage("/t/k", new byte[100_000]);
    assertFalse(staged.toString().contains(String.valueOf(staged.token())));
    operate("/t/k", list().create().writeFull(staged)).orThrow();
    staged.close();
    staged.close();
    assertEquals(List.of(), named("set-size"));
    StagedBytes unused = stage("/t/k", new byte[100_000]);
    unused.close();
    unused.close();
    assertEquals(1, named("set-size").get(0).getCount());
    assertEquals(0, used() >> 18);
  }

  private List<CrailStatistics.OperationStatistics> named(String operation) {
    return store.getStatistics().getOperations().stream()
        .filter(each -> each.getName().equals(operation) && each.getCount() > 0)
        .toList();
  }

  /** The end of a datanode whose memory is mapped breaks no request, so it has to be asked for. */
  @Test
  void bytesOfADatanodeThatHasEndedReplaceNone() throws Exception {
    start(1);
    try (EmbeddedCrail crail =
            EmbeddedCrail.builder()
                .storage(16 << 20)
                .set("crail.namenode.smallvalue", "64k")
                .set("crail.storage.localmap", "true")
                .mapped(true)
                .start();
        CrailStore mapping = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      Bytes.create(mapping, "/t", CrailNodeType.TABLE);
      byte[] old = Bytes.random(random, 1_000);
      mapping.operate("/t/k", list().create().append(old).build()).get().orThrow();
      byte[] bytes = Bytes.random(random, 100_000);
      try (StagedBytes staged = mapping.stage("/t/k", Bytes.buffer(bytes)).get()) {
        crail.stopDatanode(0);
        CompoundOperation guarded =
            list().requireEpoch(Comparison.EQUAL, 9).writeFull(staged).build();
        TestCluster.await("that it is noticed", () -> isLost(mapping, guarded));
        assertTrue(isLost(mapping, list().writeFull(staged).build()));
      }
      assertArrayEquals(old, value(mapping, "/t/k"));
    }
  }

  private static boolean isLost(CrailStore from, CompoundOperation list) throws Exception {
    try {
      CompoundResult result = from.operate("/t/k", list).get();
      assertFalse(result.isSuccess());
      return result.code(result.failedStep()) == ErrorCode.DATA_LOST;
    } catch (ExecutionException e) {
      assertEquals(ErrorCode.UNAVAILABLE, ((CrailException) e.getCause()).code());
      return true;
    }
  }

  @Test
  void aClientThatDiesLeavesNothing() throws Exception {
    start(1);
    try (SimulatedCluster simulated =
        SimulatedCluster.oneSided(
            Bytes.seed("a client that dies"), 4 << 20, "crail.lease=10s", "crail.rpctimeout=5s")) {
      CrailStore witness = simulated.newStore("witness");
      Bytes.create(witness, "/t", CrailNodeType.TABLE);
      CrailStore dying = simulated.newStore("client");
      StagedBytes staged = dying.stage("/t/k", Bytes.buffer(Bytes.random(random, 100_000))).get();
      assertTrue(simulated.usage().usedBytes() >= 100_000);
      simulated.network().partition("client", SimulatedCluster.NAMENODE);
      TestCluster.await(
          "its space",
          () -> {
            simulated.drive(witness, Duration.ofSeconds(1));
            return simulated.usage().usedBytes() == 0;
          });
      CompoundResult late =
          witness.operate("/t/k", list().create().writeFull(staged).build()).get();
      assertEquals(ErrorCode.STALE_NODE, late.code(1));
      simulated.awaitNothingWaits(witness);
    }
  }
}

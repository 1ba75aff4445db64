/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.buffer;
import static io.crail.store.Bytes.createFile;
import static io.crail.store.Bytes.empty;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.common.error.ClosedException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores beside each other, and their end. */
@EachTier
@Tag("repeat")
class StoreLifecycleTest {
  /**
   * A client that maps memory may use that of a datanode that has just ended, for 2 ms from its
   * last look on; what is acknowledged later than this is not lost.
   */
  private static final long NOTICED_MILLIS = 20;

  private final Tier tier;

  StoreLifecycleTest(Tier tier) {
    this.tier = tier;
  }

  private static Set<Thread> threads() {
    Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    threads.removeIf(thread -> !thread.getName().startsWith("crail"));
    return threads;
  }

  @Test
  void twoStoresOfTwoClustersWithTwoConfigurationsLiveInOneProcess() throws Exception {
    try (TestCluster first = TestCluster.start(tier, 1, 1, "crail.blocksize=64k");
        TestCluster second = TestCluster.start(tier, 1, 1, "crail.blocksize=1m")) {
      CrailStore small = first.newStore("crail.buffersize=8k", "crail.slicesize=4k");
      CrailStore large = second.newStore("crail.buffersize=2m");
      Bytes.write(small, "/same", new byte[100_000]);
      Bytes.write(large, "/same", new byte[200_000]);
      assertEquals(100_000, small.lookup("/same").get().getCapacity());
      assertEquals(200_000, large.lookup("/same").get().getCapacity());
      assertEquals(8 << 10, small.allocateBuffer().capacity());
      assertEquals(2 << 20, large.allocateBuffer().capacity());
      CrailStore again = first.newStore();
      assertNotEquals(small, again);
      small.close();
      assertEquals(100_000, again.lookup("/same").get().getCapacity());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void closingLeavesNoThreadAndFreesTheLeases(boolean mapped) throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1)) {
      Bytes.write(cluster.newStore(), "/warm", new byte[10]);
      Set<Thread> before = threads();
      CrailStore store =
          CrailStore.newInstance(
              cluster.configuration("crail.storage.localmap=" + mapped, "crail.client.loops=3"));
      CrailFile file = createFile(store, "/open");
      CrailOutputStream output = file.getDirectOutputStream(0);
      output.write(buffer(new byte[1_000]));
      Thread[] users = new Thread[3];
      for (int i = 0; i < users.length; i++) {
        users[i] = new Thread(() -> lookupQuietly(store));
        users[i].start();
        users[i].join();
      }
      store.close();
      store.close();
      TestCluster.await("the threads of the store end", () -> before.containsAll(threads()));
      assertThrows(ClosedException.class, () -> store.lookup("/open"));
      assertThrows(ClosedException.class, () -> output.write(buffer(new byte[1])));
      assertThrows(ClosedException.class, () -> file.getDirectInputStream(0));
      assertThrows(ClosedException.class, store::allocateBuffer);
      // What had been written was made visible, and the file can be appended to at once.
      CrailFile found = cluster.newStore().lookup("/open").get().asFile();
      assertEquals(1_000, found.getCapacity());
      Bytes.append(found, new byte[1]);
    }
  }

  private static void lookupQuietly(CrailStore store) {
    try {
      store.lookup("/warm").get();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Ends a datanode, so that each access which begins afterwards has to notice it. */
  private static void stopDatanode(TestCluster cluster) throws Exception {
    cluster.crail().stopDatanode(0);
    Thread.sleep(NOTICED_MILLIS);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aDatanodeThatEndedFailsItsOperationsAndOthersGoOn(boolean mapped) throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 2)) {
      CrailStore store =
          cluster.newStore("crail.storage.localmap=" + mapped, "crail.datatimeout=10s");
      // Blocks are dealt round robin, so that both datanodes have files.
      List<CrailFile> files = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        files.add(Bytes.write(store, "/f" + i, new byte[1_000]));
      }
      List<CrailInputStream> inputs = new ArrayList<>();
      for (CrailFile file : files) {
        CrailInputStream input = file.getDirectInputStream(0);
        assertEquals(1_000, input.read(empty(1_000)).get().getLen());
        input.seek(0);
        inputs.add(input);
      }
      stopDatanode(cluster);
      int failed = 0;
      int served = 0;
      for (CrailInputStream input : inputs) {
        Future<CrailResult> read = input.read(empty(1_000));
        try {
          assertEquals(1_000, read.get(60, TimeUnit.SECONDS).getLen());
          served++;
        } catch (ExecutionException e) {
          ErrorCode code = assertInstanceOf(CrailException.class, e.getCause()).code();
          assertTrue(
              Set.of(ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT, ErrorCode.DATA_LOST)
                  .contains(code),
              code.toString());
          failed++;
        }
        input.close();
      }
      assertTrue(failed > 0 && served > 0, failed + " failed, " + served + " served");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWriterWhoseDatanodeEndsFailsTypedAndCloses(boolean mapped) throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1)) {
      CrailStore store =
          cluster.newStore("crail.storage.localmap=" + mapped, "crail.datatimeout=10s");
      CrailFile file = createFile(store, "/w");
      CrailOutputStream output = file.getDirectOutputStream(1 << 20);
      output.write(buffer(new byte[1_000])).get();
      stopDatanode(cluster);
      Future<CrailResult> failing = output.write(buffer(new byte[1_000]));
      ExecutionException failed =
          assertThrows(ExecutionException.class, () -> failing.get(60, TimeUnit.SECONDS));
      ErrorCode code = assertInstanceOf(CrailException.class, failed.getCause()).code();
      CrailException closing = assertThrows(CrailException.class, output::close);
      assertEquals(code, closing.code());
      output.close();
      // The bytes before the failure are visible, and the name is of use again.
      assertEquals(1_000, store.lookup("/w").get().getCapacity());
      store.delete("/w", false).get();
      createFile(store, "/w");
    }
  }

  @Test
  void buffersAreLentAndTakenBackOnce() throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1)) {
      CrailStore store =
          cluster.newStore("crail.buffersize=64k", "crail.cachelimit=256k", "crail.slicesize=64k");
      List<CrailBuffer> lent = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        CrailBuffer buffer = store.allocateBuffer();
        assertEquals(64 << 10, buffer.capacity());
        assertEquals(256 << 10, buffer.getRegion().capacity());
        buffer.put((byte) i);
        lent.add(buffer);
      }
      CrailException full = assertThrows(CrailException.class, store::allocateBuffer);
      assertEquals(ErrorCode.LIMIT_EXCEEDED, full.code());
      for (int i = 0; i < 4; i++) {
        assertEquals(i, lent.get(i).flip().get());
      }
      CrailBuffer first = lent.get(0);
      store.freeBuffer(empty(64 << 10));
      assertThrows(CrailException.class, store::allocateBuffer);
      CrailStore other = cluster.newStore();
      assertThrows(IllegalArgumentException.class, () -> other.freeBuffer(first));
      store.freeBuffer(first);
      assertThrows(IllegalArgumentException.class, () -> store.freeBuffer(first));
      CrailBuffer next = store.allocateBuffer();
      assertEquals(0, next.position());
      assertEquals(64 << 10, next.remaining());
      // It took the place of the first, whose handle still cannot give it back.
      assertThrows(IllegalArgumentException.class, () -> store.freeBuffer(first));
      String counters = store.getStatistics().describe("cache/buffer");
      assertTrue(counters.contains("cacheGet 5"), counters);
    }
  }

  @Test
  void statisticsCountStreamsAndOperations() throws Exception {
    assumeTrue(tier.canBeMapped(), "what is here and what is remote is counted where both exist");
    try (TestCluster cluster = TestCluster.start(tier, 1, 1)) {
      CrailStore store = cluster.newStore("crail.storage.localmap=true");
      byte[] bytes = new byte[10_000];
      CrailFile file = createFile(store, "/counted");
      // Without a hint no space is asked for ahead, so the write has to wait for its location.
      CrailOutputStream output = file.getDirectOutputStream(0);
      assertEquals(10_000, output.write(buffer(bytes)).get().getLen());
      output.close();
      assertArrayEquals(bytes, Bytes.read(file));
      assertTrue(
          store.getStatistics().describe("core/output").contains("totalOps 1, "),
          store.getStatistics().describe("core/output"));
      assertTrue(store.getStatistics().describe("core/input").contains("bytes 10000"));
      assertEquals(
          "openInput 1, openOutput 1, closeInput 1, closeOutput 1, maxInput 1, maxOutput 1",
          store.getStatistics().describe("core/streams"));
      assertTrue(store.getStatistics().describe("cache/endpoint").contains("size 1"));
      // New space, and extents that came with the lookup; here and over the network.
      assertTrue(store.getStatistics().describe("core/output").contains("localOps 1, remoteOps 0"));
      assertTrue(store.getStatistics().describe("core/output").contains("cached 0"));
      CrailStore remote = cluster.newStore("crail.storage.localmap=false");
      CrailFile there = remote.lookup("/counted").get().asFile();
      final CrailInputStream idle = there.getDirectInputStream(0);
      assertArrayEquals(bytes, Bytes.read(there));
      String counters = remote.getStatistics().describe("core/input");
      assertTrue(counters.contains("localOps 0, remoteOps 1, cached 1"), counters);
      remote.getStatistics().reset();
      assertEquals(
          "openInput 0, openOutput 0, closeInput 0, closeOutput 0, maxInput 1, maxOutput 0",
          remote.getStatistics().describe("core/streams"));
      idle.close();
      store.getStatistics().print("test");
      store.getStatistics().reset();
      assertTrue(store.getStatistics().describe("core/input").contains("totalOps 0"));
      CrailStore uncounted = cluster.newStore("crail.statistics=false");
      assertEquals(null, uncounted.getStatistics().describe("core/input"));
      assertNotNull(uncounted.lookup("/counted").get());
    }
  }
}

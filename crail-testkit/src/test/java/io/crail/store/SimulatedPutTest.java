/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.SimulatedCluster.NAMENODE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.NoSpaceException;
import io.crail.common.error.StaleNodeException;
import io.crail.common.error.UnavailableException;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.storage.Transfer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a put leaves when its answer is late, others come at once, or there is no room. */
@Tag("once")
@Timeout(60)
class SimulatedPutTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final String KEY = "/t/k";

  private final long seed = Bytes.seed("simulated puts");
  private SimulatedCluster cluster;
  private CrailStore store;

  private void start(String... settings) throws Exception {
    List<String> all = new ArrayList<>();
    all.add("crail.lease=" + LEASE.toMillis() + "ms");
    all.add("crail.rpctimeout=30s");
    all.add("crail.namenode.smallvalue=4k");
    all.addAll(List.of(settings));
    cluster = SimulatedCluster.oneSided(seed, 4 << 20, all.toArray(new String[0]));
    store = cluster.newStore("client");
    Bytes.create(store, "/t", CrailNodeType.TABLE);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private static byte[] value(int length, int seed) {
    return Bytes.random(new Random(seed), length);
  }

  private Upcoming<CrailKeyValue> put(byte[] value) throws Exception {
    return store.put(KEY, Bytes.buffer(value));
  }

  /** The errors of writes, as the program sees them. */
  private Map<ErrorCode, Long> writeErrors() {
    return store.getStatistics().getOperations().stream()
        .filter(each -> each.getName().equals("write"))
        .findFirst()
        .orElseThrow()
        .getErrors();
  }

  private void assertValue(byte[] expected) throws Exception {
    CrailBuffer buffer = Bytes.empty(2 << 20);
    CrailResult result = store.get(KEY, buffer).get();
    buffer.position((int) result.getLen());
    assertArrayEquals(expected, Bytes.bytesOf(buffer));
  }

  @Test
  void theLastOfThosePutAtOnceWins() throws Exception {
    // There is memory for the second value alone.
    start("crail.namenode.smallvalue=1k", "crail.namenode.smallvalues=60");
    store.lookup(KEY).get();
    Upcoming<CrailKeyValue> first = put(value(1000, 1));
    Upcoming<CrailKeyValue> second = put(value(10, 2));
    second.get();
    ExecutionException overtaken = assertThrows(ExecutionException.class, first::get);
    assertInstanceOf(StaleNodeException.class, overtaken.getCause());
    assertValue(value(10, 2));
  }

  @Test
  void aStoreThatKnowsNothingYetPutsInOneStepToo() throws Exception {
    start("crail.namenode.smallvalue=1k");
    store = cluster.newStore("new");
    put(value(100, 1)).get();
    assertEquals(0, cluster.usage().usedBytes());
    // More than is kept, which this store does not know yet.
    store = cluster.newStore("newer");
    put(value(2000, 2)).get();
    assertEquals(4096, cluster.usage().usedBytes());
    assertValue(value(2000, 2));
  }

  @Test
  void withoutRoomTheOldValueStays() throws Exception {
    start("crail.namenode.smallvalue=1k", "crail.namenode.smallvalues=150");
    put(value(100, 1)).get();
    Bytes.write(store, "/f", value(3 << 20, 3));
    byte[] large = value((1 << 20) + 1, 2);
    for (int i = 0; i < 2; i++) {
      ExecutionException failed = assertThrows(ExecutionException.class, () -> put(large).get());
      assertInstanceOf(NoSpaceException.class, failed.getCause());
      assertValue(value(100, 1));
    }
    // As long as the old one: there is memory, though there is none for one more.
    put(value(100, 4)).get();
    assertValue(value(100, 4));
    assertEquals(3 << 20, cluster.usage().usedBytes());
  }

  @Test
  void aLateAnswerIsNoReasonToLoseTheBytes() throws Exception {
    start("crail.namenode.smallvalue=0");
    cluster.network().latency(Duration.ofMillis(1), Duration.ofMillis(1));
    for (int percent : new int[] {60, 95, 250}) {
      for (Duration before : new Duration[] {Duration.ZERO, Duration.ofNanos(1_500_000)}) {
        put(value(100, 1)).get();
        store.lookup(KEY).get();
        // Held up on the way to the namenode, or with the answer.
        cluster.network().schedule(before, () -> cluster.network().partition("client", NAMENODE));
        cluster
            .network()
            .schedule(
                LEASE.multipliedBy(percent).dividedBy(100),
                () -> cluster.network().heal("client", NAMENODE));
        byte[] late = value(9000, percent);
        put(late).get();
        assertValue(late);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void spaceOfAnUnansweredPutComesBack(boolean withStream) throws Exception {
    start("crail.namenode.smallvalue=0", "crail.rpctimeout=3s");
    cluster.network().latency(Duration.ofMillis(1), Duration.ofMillis(1));
    CrailOutputStream stream =
        withStream ? Bytes.createFile(store, "/stream").getDirectOutputStream(0) : null;
    final CrailStore other = cluster.newStore("other");
    loseTheAnswerTo(value(1 << 20, 1));
    final long began = cluster.nanoTime();
    assertEquals(1 << 20, cluster.usage().usedBytes());
    CrailKeyValue found = other.lookup(KEY).get().asKeyValue();
    assertThrows(WriteLeaseHeldException.class, () -> found.getDirectOutputStream(0));
    for (int i = 0; cluster.usage().usedBytes() + cluster.usage().waitingBytes() > 0; i++) {
      Duration passed = Duration.ofNanos(cluster.nanoTime() - began);
      // Much longer than a lease, since the namenode's own thread looks at them in real time.
      assertTrue(passed.compareTo(Duration.ofMinutes(10)) < 0, "space is taken after " + passed);
      if (!withStream) {
        // It does not prolong the other leases of this client, nor do the renewals for a stream.
        Bytes.createFile(store, "/f" + i);
      }
      cluster.drive(store, Duration.ofSeconds(1));
    }
    found.getDirectOutputStream(0).close();
    if (withStream) {
      stream.close();
    }
  }

  @Test
  void aPutWithoutAnAnswerGivesBackWhatItHasTakenBesideTheOldValue() throws Exception {
    start("crail.namenode.smallvalue=0", "crail.rpctimeout=3s");
    put(value(100, 1)).get();
    final long before = cluster.usage().usedBytes();
    cluster.network().latency(Duration.ofMillis(1), Duration.ofMillis(1));
    loseTheAnswerTo(value(1 << 20, 2));
    assertEquals(before + (1 << 20), cluster.usage().usedBytes());
    assertValue(value(100, 1));
    final long began = cluster.nanoTime();
    for (int i = 0; cluster.usage().usedBytes() > before; i++) {
      Duration passed = Duration.ofNanos(cluster.nanoTime() - began);
      assertTrue(passed.compareTo(Duration.ofMinutes(10)) < 0, "space is taken after " + passed);
      // It does not prolong the other leases of this client.
      Bytes.createFile(store, "/f" + i);
      cluster.drive(store, Duration.ofSeconds(1));
    }
    assertValue(value(100, 1));
  }

  /** The request of a put arrives, and no answer comes until the put has failed. */
  private void loseTheAnswerTo(byte[] value) {
    cluster
        .network()
        .schedule(
            Duration.ofNanos(1_500_000), () -> cluster.network().partition("client", NAMENODE));
    ExecutionException failed = assertThrows(ExecutionException.class, () -> put(value).get());
    assertInstanceOf(CrailTimeoutException.class, failed.getCause());
    cluster.network().heal("client", NAMENODE);
  }

  /** Lets whoever drives the loop stand still when the next answer has come. */
  private void standStillBehindNext() throws Exception {
    store
        .lookup("/t")
        .toCompletableFuture(Runnable::run)
        .thenRun(() -> cluster.network().standStill(Duration.ofMinutes(10)));
  }

  private void assertTimedOut(Upcoming<CrailKeyValue> put) {
    ExecutionException failed = assertThrows(ExecutionException.class, put::get);
    assertInstanceOf(CrailTimeoutException.class, failed.getCause());
  }

  @Test
  void aPutThatIsOverIsNotSent() throws Exception {
    start();
    store.lookup("/t").get();
    standStillBehindNext();
    // All that may be on their way at once, so that the put waits.
    for (int i = 1; i < 1024; i++) {
      store.lookup("/t");
    }
    assertTimedOut(put(value(100, 1)));
    assertNull(store.lookup(KEY).get());
  }

  private static final int LARGE = 60_000;

  /** Notes each write that is issued from now on, and lets those stand still that are to. */
  private List<Transfer> writes(int... stalled) {
    List<Transfer> writes = new ArrayList<>();
    cluster
        .tier()
        .stall(
            transfer -> {
              writes.add(transfer);
              return Arrays.stream(stalled).anyMatch(index -> index == writes.size() - 1);
            });
    return writes;
  }

  /**
   * All that is free but for a few blocks is taken at once, so that what is freed is given again.
   */
  private void useAllSpace() throws Exception {
    cluster.tier().stall(false);
    try (CrailStore other = cluster.newStore("other")) {
      CrailOutputStream stream = Bytes.createFile(other, "/all").getDirectOutputStream(0);
      byte[] bytes = value(64 << 10, 99);
      assertThrows(
          NoSpaceException.class,
          () -> {
            for (int i = 0; i < 4 << 20; i += bytes.length) {
              try {
                stream.write(Bytes.buffer(bytes)).get();
              } catch (ExecutionException e) {
                throw e.getCause();
              }
            }
          });
    }
  }

  /** No other client has written to what was taken. */
  private void assertAllSpaceIsUntouched() throws Exception {
    byte[] all = Bytes.read(store.lookup("/all").get().asFile());
    assertTrue(all.length > 2 << 20);
    for (int at = 0; at < all.length; at += 64 << 10) {
      assertArrayEquals(value(64 << 10, 99), Arrays.copyOfRange(all, at, at + (64 << 10)));
    }
  }

  @Test
  void theLastOfConcurrentLargePutsWins() throws Exception {
    start("crail.datatimeout=100s");
    put(value(LARGE, 3)).get();
    List<Transfer> writes = writes(0);
    final Upcoming<CrailKeyValue> first = put(value(LARGE, 4));
    Upcoming<CrailKeyValue> second = put(value(LARGE, 5));
    second.get();
    assertFalse(first.isDone());
    // No other node gets the space to which the first one is still being written.
    useAllSpace();
    cluster.tier().releaseStalled();
    ExecutionException overtaken = assertThrows(ExecutionException.class, first::get);
    assertInstanceOf(StaleNodeException.class, overtaken.getCause());
    assertNotEquals(writes.get(0).extent(), writes.get(1).extent());
    assertValue(value(LARGE, 5));
    assertAllSpaceIsUntouched();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 60})
  void aSlowWriteGoesOnAsLongAsTheLeaseIsRenewed(int percentLate) throws Exception {
    start("crail.datatimeout=100s", "crail.client.datanodesilence=100s");
    cluster.network().latency(Duration.ofMillis(1), Duration.ofMillis(1));
    put(value(LARGE, 1)).get();
    if (percentLate > 0) {
      cluster
          .network()
          .schedule(
              Duration.ofNanos(1_500_000), () -> cluster.network().partition("client", NAMENODE));
      cluster
          .network()
          .schedule(
              LEASE.multipliedBy(percentLate).dividedBy(100),
              () -> cluster.network().heal("client", NAMENODE));
    }
    List<Transfer> writes = writes();
    // Longer than the lease lasts without renewals.
    cluster.tier().latency(LEASE, LEASE);
    put(value(LARGE, 3)).get();
    cluster.tier().latency(Duration.ZERO, Duration.ZERO);
    assertEquals(1, writes.size());
    assertValue(value(LARGE, 3));
  }

  @Test
  void aPutWaitsForTheOnlyDatanodeThatIsSlow() throws Exception {
    start("crail.datatimeout=100s", "crail.client.datanodesilence=1s");
    put(value(LARGE, 1)).get();
    List<Transfer> writes = writes();
    cluster.tier().latency(Duration.ofSeconds(3), Duration.ofSeconds(3));
    put(value(LARGE, 3)).get();
    cluster.tier().latency(Duration.ZERO, Duration.ZERO);
    assertEquals(2, writes.size());
    assertEquals(Map.of(), writeErrors(), "the program has had none");
    assertValue(value(LARGE, 3));
  }

  @ParameterizedTest
  @ValueSource(strings = {"new", "new, then renamed", "replacing"})
  void bytesThatMayStillArriveKeepTheirSpace(String key) throws Exception {
    final boolean renamed = key.contains("renamed");
    final boolean replaces = key.equals("replacing");
    // Who uses up all other space must not wait for the space that rests.
    start("crail.datatimeout=4s", "crail.client.spacepatience=0s");
    put(value(LARGE, 2)).get();
    if (!replaces) {
      store.delete(KEY, false).get();
    }
    // Its renewals prolong all leases of this client.
    final CrailOutputStream stream = Bytes.createFile(store, "/stream").getDirectOutputStream(0);
    AtomicInteger writes = new AtomicInteger();
    cluster
        .tier()
        .failWrites(
            transfer -> writes.getAndIncrement() == 0 ? ErrorCode.UNAVAILABLE : ErrorCode.OK,
            Duration.ofSeconds(1));
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> put(value(LARGE, 3)).get());
    assertInstanceOf(UnavailableException.class, failed.getCause());
    assertEquals(Map.of(ErrorCode.UNAVAILABLE, 1L), writeErrors());
    CrailKeyValue left = store.lookup(KEY).get().asKeyValue();
    assertEquals(replaces ? LARGE : 0, left.getCapacity());
    if (!replaces) {
      // Its lease ends by itself, and its space rests after that.
      assertThrows(WriteLeaseHeldException.class, () -> left.getDirectOutputStream(0));
    }
    if (renamed) {
      store.rename(KEY, "/t/other").get();
    }
    useAllSpace();
    cluster.drive(store, LEASE.plusSeconds(1));
    if (replaces) {
      assertValue(value(LARGE, 2));
    } else {
      String path = renamed ? "/t/other" : KEY;
      SimulatedCluster.takeOver(store.lookup(path).get().asKeyValue()).close();
    }
    assertAllSpaceIsUntouched();
    store.delete("/all", false).get();
    cluster.drive(store, LEASE.multipliedBy(3));
    cluster.awaitNothingWaits(store);
    byte[] bytes = value(LARGE, 4);
    put(bytes).get();
    cluster.drive(store, LEASE.multipliedBy(8));
    assertValue(bytes);
    cluster.awaitNothingWaits(store);
    stream.close();
  }

  @Test
  void aPutThatIsOverIsNotWritten() throws Exception {
    start("crail.namenode.smallvalue=0");
    // Often enough that answers which may be cut apart come together.
    for (int i = 0; i < 10; i++) {
      // The datanode has stood still too, and tells that it is there.
      cluster.drive(store, LEASE.multipliedBy(2));
      // What is asked for beside this one leaves together.
      store.lookup("/t");
      standStillBehindNext();
      assertTimedOut(put(value(9000, i)));
      cluster.drive(store, Duration.ofSeconds(1));
      assertEquals(0, store.lookup(KEY).get().getCapacity());
    }
  }

  @Test
  void aGetFindsTheOldValueUntilTheNewOneIsWhole() throws Exception {
    start("crail.datatimeout=100s", "crail.client.datanodesilence=100s");
    put(value(LARGE, 1)).get();
    CrailStore other = cluster.newStore("other");
    cluster.tier().latency(Duration.ofSeconds(1), Duration.ofSeconds(1));
    Upcoming<CrailKeyValue> put = put(value(LARGE, 2));
    cluster.network().runFor(Duration.ofMillis(100));
    CrailKeyValue found = other.lookup(KEY).get().asKeyValue();
    assertFalse(found.isBeingPut());
    assertEquals(LARGE, found.getCapacity());
    cluster.tier().latency(Duration.ZERO, Duration.ZERO);
    assertValue(value(LARGE, 1));
    assertFalse(put.isDone());
    put.get();
    assertValue(value(LARGE, 2));
    // The holder of the old one learns it now.
    ExecutionException stale = assertThrows(ExecutionException.class, () -> Bytes.read(found));
    assertInstanceOf(StaleNodeException.class, stale.getCause());
  }

  @Test
  void theOldValueStaysWhenTheOneWhoWasReplacingItIsGone() throws Exception {
    start("crail.datatimeout=100s", "crail.client.datanodesilence=100s");
    put(value(LARGE, 1)).get();
    cluster.tier().stall(true);
    put(value(LARGE, 2));
    cluster.network().runFor(Duration.ofMillis(100));
    cluster.network().partition("client", NAMENODE);
    store = cluster.newStore("other");
    cluster.network().runFor(LEASE.multipliedBy(2));
    cluster.tier().stall(false);
    assertValue(value(LARGE, 1));
    // The namenode's own thread has to notice that.
    TestCluster.await("its space is given back", () -> cluster.usage().usedBytes() == 64 << 10);
    assertValue(value(LARGE, 1));
    cluster.tier().releaseStalled();
    put(value(LARGE, 3)).get();
    assertValue(value(LARGE, 3));
    cluster.network().heal("client", NAMENODE);
    store.delete(KEY, false).get();
    TestCluster.await("nothing is left", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void aGetWaitsForTheFirstValueOfAKey() throws Exception {
    start("crail.datatimeout=100s", "crail.client.datanodesilence=100s");
    CrailStore other = cluster.newStore("other");
    cluster.tier().latency(Duration.ofSeconds(1), Duration.ofSeconds(1));
    final long begin = cluster.nanoTime();
    Upcoming<CrailKeyValue> put = put(value(LARGE, 2));
    cluster.network().runFor(Duration.ofMillis(100));
    CrailKeyValue found = other.lookup(KEY).get().asKeyValue();
    assertTrue(found.isBeingPut());
    assertEquals(0, found.getCapacity());
    CrailBuffer buffer = Bytes.empty(LARGE);
    Upcoming<CrailResult> get = other.get(KEY, buffer);
    assertEquals(LARGE, get.get().getLen());
    buffer.position(LARGE);
    assertArrayEquals(value(LARGE, 2), Bytes.bytesOf(buffer));
    assertTrue(cluster.nanoTime() - begin >= Duration.ofSeconds(2).toNanos());
    put.get();
    found = other.lookup(KEY).get().asKeyValue();
    assertFalse(found.isBeingPut());
    // An empty value is one.
    put(new byte[0]).get();
    assertFalse(other.lookup(KEY).get().asKeyValue().isBeingPut());
    assertEquals(0, other.get(KEY, Bytes.empty(1)).get().getLen());
  }

  @Test
  void aValueIsAbsentWhenTheOneWhoWasPuttingItIsGone() throws Exception {
    start("crail.datatimeout=100s", "crail.client.datanodesilence=100s");
    cluster.tier().stall(true);
    put(value(LARGE, 2));
    cluster.network().runFor(Duration.ofMillis(100));
    cluster.network().partition("client", NAMENODE);
    CrailStore other = cluster.newStore("other");
    assertTrue(other.lookup(KEY).get().asKeyValue().isBeingPut());
    cluster.network().runFor(LEASE.multipliedBy(2));
    // The namenode's own thread has to notice that.
    TestCluster.await("it is abandoned", () -> other.lookup(KEY).get().asKeyValue().isAbandoned());
    assertFalse(other.lookup(KEY).get().asKeyValue().isBeingPut());
    assertNull(other.get(KEY, Bytes.empty(LARGE)).get());
    cluster.tier().stall(false);
    cluster.tier().releaseStalled();
    cluster.network().heal("client", NAMENODE);
    other.put(KEY, Bytes.buffer(value(10, 3))).get();
    assertValue(value(10, 3));
  }

  @Test
  void aGetEndsWithThePutThatItWaitsFor() throws Exception {
    start("crail.datatimeout=100s", "crail.client.datanodesilence=100s");
    CrailStore other = cluster.newStore("other");
    cluster.tier().stall(true);
    final Upcoming<CrailKeyValue> put = put(value(LARGE, 2));
    cluster.network().runFor(Duration.ofMillis(100));
    cluster.network().partition("client", NAMENODE);
    Upcoming<CrailResult> get = other.get(KEY, Bytes.empty(LARGE));
    assertNull(get.get());
    cluster.tier().stall(false);
    cluster.tier().releaseStalled();
    cluster.network().heal("client", NAMENODE);
    assertThrows(ExecutionException.class, put::get);
  }
}

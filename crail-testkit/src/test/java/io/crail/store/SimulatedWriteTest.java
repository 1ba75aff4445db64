/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.WriteLeaseLostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Writes that are slow, get lost or arrive late, beside their write lease, in virtual time. */
@Tag("once")
@Timeout(300)
class SimulatedWriteTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration SLOW = Duration.ofSeconds(20);
  private static final Duration FAST = Duration.ofNanos(10_000);

  private final long seed = Bytes.seed("simulated writes");
  private final Random random = new Random(seed);
  private SimulatedCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    start(LEASE);
  }

  private void start(Duration lease) throws Exception {
    cluster =
        new SimulatedCluster(
            seed,
            "crail.lease=" + lease.toMillis() + "ms",
            "crail.rpctimeout=30s",
            "crail.datatimeout=100s");
    cluster.tier().latency(FAST, FAST);
    store = cluster.newStore("client");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  /** Opens a new file that has {@code bytes} already, and the space after them. */
  private CrailOutputStream begin(String path, byte[] bytes) throws Exception {
    CrailOutputStream output = Bytes.createFile(store, path).getDirectOutputStream(0);
    output.write(Bytes.buffer(bytes)).get();
    output.sync().get();
    return output;
  }

  private static void assertLost(Future<CrailResult> write, String path) {
    ExecutionException failed = assertThrows(ExecutionException.class, write::get);
    WriteLeaseLostException lost =
        assertInstanceOf(WriteLeaseLostException.class, failed.getCause());
    assertTrue(lost.getMessage().contains(path), lost.getMessage());
  }

  @Test
  void aWriteEndsWithItsLease() throws Exception {
    final long start = cluster.nanoTime();
    CrailOutputStream output = begin("/ends", new byte[10]);
    cluster.tier().latency(SLOW, SLOW);
    cluster.network().partition("client", SimulatedCluster.NAMENODE);
    assertLost(output.write(Bytes.buffer(new byte[100])), "/ends");
    long took = cluster.nanoTime() - start;
    assertTrue(took <= LEASE.toNanos() + 100_000_000, took + " ns");
    cluster.network().heal("client", SimulatedCluster.NAMENODE);
    assertThrows(WriteLeaseLostException.class, output::close);
  }

  @Test
  void aSlowWriteTakesAsManyLeasesAsItNeeds() throws Exception {
    byte[] first = Bytes.random(random, 10);
    byte[] second = Bytes.random(random, 3_000_000);
    CrailOutputStream output = begin("/slow", first);
    cluster.tier().latency(SLOW, SLOW);
    final long start = cluster.nanoTime();
    output.write(Bytes.buffer(second)).get();
    assertTrue(cluster.nanoTime() - start >= 2 * SLOW.toNanos());
    output.close();
    cluster.tier().latency(FAST, FAST);
    byte[] all = Bytes.read(store.lookup("/slow").get().asFile());
    assertEquals(first.length + second.length, all.length);
    assertArrayEquals(first, Arrays.copyOf(all, first.length));
    assertArrayEquals(second, Arrays.copyOfRange(all, first.length, all.length));
  }

  @Test
  void aWriteToADeletedNodeEndsWithTheLeaseThatItHadThen() throws Exception {
    final CrailOutputStream stays = begin("/stays", new byte[10]);
    CrailOutputStream goes = begin("/goes", new byte[10]);
    final long start = cluster.nanoTime();
    cluster.tier().latency(SLOW, SLOW);
    Future<CrailResult> write = goes.write(Bytes.buffer(new byte[100]));
    store.delete("/goes", false).get();
    // The renewals for the other stream are none for this one, whose space may be another's soon.
    assertLost(write, "/goes");
    long took = cluster.nanoTime() - start;
    assertTrue(took <= LEASE.toNanos() + 100_000_000, took + " ns");
    assertThrows(CrailException.class, goes::close);
    cluster.tier().latency(FAST, FAST);
    stays.write(Bytes.buffer(new byte[10])).get();
    stays.close();
  }

  @Test
  void noPieceBeginsBehindTheEndOfTheLease() throws Exception {
    // So short that the connection is not taken for dead within it.
    cluster.close();
    Duration lease = Duration.ofMillis(1_500);
    start(lease);
    CrailOutputStream output = begin("/late", new byte[10]);
    // Space is asked for in time, and comes when the lease has run out: renewals are too slow.
    Duration latency = lease.multipliedBy(3).dividedBy(5);
    cluster.network().latency(latency, latency);
    int[] begun = new int[1];
    cluster
        .tier()
        .failWrites(
            transfer -> {
              begun[0]++;
              return ErrorCode.OK;
            },
            Duration.ZERO);
    assertLost(output.write(Bytes.buffer(new byte[100_000])), "/late");
    // The one into the space that was there.
    assertEquals(1, begun[0]);
    cluster.network().latency(FAST, FAST);
    assertThrows(WriteLeaseLostException.class, output::close);
  }

  @Test
  void aStalePieceDoesNotHideThatAnotherMayStillArrive() throws Exception {
    byte[] committed = Bytes.random(random, 100);
    CrailOutputStream output = begin("/hidden", committed);
    // The first piece, into the extent that is there, is reported to have failed and arrives later.
    // The other one ends after it, and only for being stale.
    int[] stale = new int[1];
    cluster
        .tier()
        .failWrites(
            transfer -> {
              if (transfer.extent().fileOffset() == 0) {
                return ErrorCode.UNAVAILABLE;
              }
              stale[0]++;
              return ErrorCode.STALE_EXTENT;
            },
            LEASE.multipliedBy(2));
    Future<CrailResult> write = output.write(Bytes.buffer(new byte[10_000]));
    ExecutionException failed = assertThrows(ExecutionException.class, write::get);
    assertEquals(
        ErrorCode.UNAVAILABLE, assertInstanceOf(CrailException.class, failed.getCause()).code());
    assertEquals(4, stale[0]);
    assertThrows(CrailException.class, output::close);
    cluster.tier().failWrites(transfer -> ErrorCode.OK, Duration.ZERO);

    // So the lease ran out and the extent was sealed, and what arrives now hits no other data.
    CrailStore other = cluster.newStore("other");
    CrailFile file = other.lookup("/hidden").get().asFile();
    cluster.network().runFor(LEASE.multipliedBy(3).dividedBy(2));
    CrailOutputStream next = SimulatedCluster.takeOver(file);
    byte[] appended = Bytes.random(random, 10_000);
    next.write(Bytes.buffer(appended)).get();
    next.close();
    cluster.network().runFor(LEASE.multipliedBy(2));
    byte[] all = Bytes.read(other.lookup("/hidden").get().asFile());
    assertArrayEquals(committed, Arrays.copyOf(all, committed.length));
    assertArrayEquals(appended, Arrays.copyOfRange(all, committed.length, all.length));
  }

  @Test
  void aPurgeTellsOfBytesThatAreMissingHoweverOftenItIsAsked() throws Exception {
    CrailBufferedOutputStream output =
        Bytes.createFile(store, "/purged").getBufferedOutputStream(0);
    output.write(new byte[100]);
    assertEquals(100, output.purge().get().getLen());
    cluster.tier().failWrites(transfer -> ErrorCode.UNAVAILABLE, Duration.ZERO);
    output.write(new byte[100]);
    assertThrows(ExecutionException.class, () -> output.purge().get());
    cluster.tier().failWrites(transfer -> ErrorCode.OK, Duration.ZERO);
    // Takes the slice back whose write has failed.
    assertThrows(CrailException.class, () -> output.write(1));
    assertThrows(ExecutionException.class, () -> output.purge().get());
    assertThrows(CrailException.class, output::close);
  }

  @Test
  void aPurgeTellsThatWhatWasHeldBackIsLostWithItsLease() throws Exception {
    cluster.close();
    cluster =
        new SimulatedCluster(
            seed,
            "crail.lease=" + LEASE.toMillis() + "ms",
            "crail.rpctimeout=30s",
            "crail.namenode.smallvalue=8k",
            "crail.slicesize=4k");
    store = cluster.newStore("client");
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    CrailBufferedOutputStream output =
        store
            .create(
                "/t/k",
                CrailNodeType.KEYVALUE,
                CrailStorageClass.PARENT,
                CrailLocationClass.PARENT,
                true)
            .get()
            .asKeyValue()
            .getBufferedOutputStream(0);
    // A slice, which is held back with all that is to come.
    output.write(new byte[4 << 10]);
    assertEquals(0, cluster.usage().usedBytes());
    cluster.network().runFor(LEASE.multipliedBy(2));
    for (Future<?> each : List.of(output.purge(), output.sync())) {
      ExecutionException failed = assertThrows(ExecutionException.class, each::get);
      assertInstanceOf(WriteLeaseLostException.class, failed.getCause());
    }
    assertThrows(WriteLeaseLostException.class, output::close);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.common.error.ClosedException;
import io.crail.common.error.CrailException;
import io.crail.common.error.NoSpaceException;
import io.crail.common.error.StaleNodeException;
import io.crail.common.error.WriteLeaseLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A namenode that starts anew while clients go on with what the last one gave them. */
@Tag("once")
@Timeout(300)
class SimulatedRestartTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration MARGIN = Duration.ofSeconds(6);
  private static final Duration FAST = Duration.ofNanos(10_000);
  private static final Duration STEP = Duration.ofMillis(100);
  private static final Duration DAYS = Duration.ofDays(3);
  private static final int ROUNDS = Boolean.getBoolean("crail.test.long") ? 5 : 2;
  private static final int CAPACITY_MIB = 32;
  private static final int MIB = 1 << 20;

  private final long seed = Bytes.seed("simulated restarts");
  private final Random random = new Random(seed);
  private SimulatedCluster cluster;
  private CrailStore old;
  private CrailStore fresh;

  @BeforeEach
  void start() throws Exception {
    start("crail.datatimeout=100s");
  }

  private void startAnew(String setting) throws Exception {
    cluster.close();
    start(setting);
    write("/used", MIB);
  }

  private void start(String setting) throws Exception {
    cluster =
        new SimulatedCluster(
            seed,
            "crail.rpctimeout=30s",
            "crail.storage.keepalive=500ms",
            "crail.lease=" + LEASE.toMillis() + "ms",
            "crail.namenode.freemargin=" + MARGIN.toMillis() + "ms",
            setting);
    old = cluster.newStore("old");
    fresh = cluster.newStore("fresh");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private void drive(Duration span) throws Exception {
    long end = cluster.nanoTime() + span.toNanos();
    while (cluster.nanoTime() - end < 0) {
      old.lookup("/nothing").get();
      fresh.lookup("/nothing").get();
      cluster.network().runFor(STEP);
    }
  }

  private void restart(Duration behind) throws Exception {
    cluster.restartNamenode(behind);
    // Finds the connections lost and makes them anew.
    old.lookup("/nothing").get();
    fresh.lookup("/nothing").get();
  }

  private byte[] write(String path, int length) throws Exception {
    byte[] bytes = Bytes.random(random, length);
    Bytes.write(fresh, path, bytes);
    return bytes;
  }

  private void awaitSpace() throws Exception {
    long deadline = cluster.nanoTime() + LEASE.plus(MARGIN).multipliedBy(2).toNanos();
    for (int i = 0; ; i++) {
      try {
        write("/probe" + i, 1);
        // The regions come one after the other.
        drive(STEP.multipliedBy(2));
        return;
      } catch (ExecutionException e) {
        assertInstanceOf(NoSpaceException.class, e.getCause());
        assertTrue(cluster.nanoTime() - deadline < 0, "no space in time");
        drive(STEP);
      }
    }
  }

  /** No caller has to ask again: space that rests, and datanodes, are known to come. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWriteWaitsForTheSpaceOfARestartedNamenode(boolean buffered) throws Exception {
    write("/used", MIB);
    for (int round = 0; round < ROUNDS; round++) {
      restart(Duration.ZERO);
      long begin = cluster.nanoTime();
      byte[] bytes = Bytes.random(random, 3 * MIB + 5);
      CrailFile file = Bytes.createFile(fresh, "/f");
      if (buffered) {
        try (CrailBufferedOutputStream output = file.getBufferedOutputStream(0)) {
          output.write(bytes);
        }
      } else {
        CrailOutputStream output = file.getDirectOutputStream(0);
        output.write(Bytes.buffer(bytes)).get();
        output.close();
      }
      assertTrue(cluster.nanoTime() - begin >= MARGIN.toNanos(), "the space did not rest");
      assertArrayEquals(bytes, Bytes.read(fresh.lookup("/f").get().asFile()));
    }
  }

  /** With the time that all of them have left for their bytes. */
  @Test
  void waitingDoesNotCountAsWriting() throws Exception {
    startAnew("crail.datatimeout=1s");
    restart(Duration.ZERO);
    CrailOutputStream output = Bytes.createFile(fresh, "/f").getDirectOutputStream(0);
    List<Future<CrailResult>> writes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      writes.add(output.write(Bytes.buffer(new byte[MIB])));
    }
    Future<?> synced = output.sync();
    for (Future<CrailResult> write : writes) {
      assertEquals(MIB, write.get().getLen());
    }
    synced.get();
    output.close();
    assertEquals(4 * MIB, old.lookup("/f").get().getCapacity());
  }

  @Test
  void patienceWithSpaceHasAnEnd() throws Exception {
    startAnew("crail.client.spacepatience=3s");
    restart(Duration.ZERO);
    CrailOutputStream output = Bytes.createFile(fresh, "/f").getDirectOutputStream(0);
    long begin = cluster.nanoTime();
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> output.write(Bytes.buffer(new byte[9])).get());
    assertInstanceOf(NoSpaceException.class, failed.getCause());
    long waited = cluster.nanoTime() - begin;
    assertTrue(waited >= 3_000_000_000L && waited < 4_000_000_000L, waited + " ns");
    assertThrows(NoSpaceException.class, output::close);
    awaitSpace();
  }

  @Test
  void aStoreThatIsClosedWaitsForNoSpace() throws Exception {
    startAnew("crail.rpctimeout=1s");
    CrailStore closing = cluster.newStore("closing");
    restart(Duration.ZERO);
    CrailOutputStream output = Bytes.createFile(closing, "/f").getDirectOutputStream(0);
    Future<CrailResult> write = output.write(Bytes.buffer(new byte[9]));
    drive(STEP.multipliedBy(3));
    assertFalse(write.isDone());
    closing.close();
    ExecutionException failed = assertThrows(ExecutionException.class, write::get);
    assertInstanceOf(ClosedException.class, failed.getCause());
  }

  @Test
  void aStreamWhoseStoreWasClosedReportsThatItsBytesAreLost() throws Exception {
    CrailStore closing = cluster.newStore("closing");
    CrailOutputStream output = Bytes.createFile(closing, "/f").getDirectOutputStream(0);
    output.write(Bytes.buffer(new byte[9])).get();
    restart(Duration.ZERO);
    closing.close();
    assertThrows(StaleNodeException.class, output::close);
  }

  private static void assertLost(CrailOutputStream output) {
    WriteLeaseLostException lost =
        assertThrows(WriteLeaseLostException.class, () -> output.write(Bytes.empty(0)));
    assertTrue(lost.getMessage().contains("was restarted"), lost.getMessage());
    assertThrows(StaleNodeException.class, output::close);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void lateWritesFromBeforeTheRestartReachNoOtherData(boolean mapped) throws Exception {
    cluster.tier().mapped(mapped);
    for (int round = 0; round < ROUNDS; round++) {
      cluster.tier().latency(FAST, FAST);
      List<CrailOutputStream> outputs = new ArrayList<>();
      List<Future<CrailResult>> writes = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        CrailOutputStream output =
            Bytes.createFile(old, "/old" + round + "-" + i).getDirectOutputStream(4 * MIB);
        output.write(Bytes.buffer(new byte[10])).get();
        outputs.add(output);
      }
      // Each half of a write takes less than what the margin is for.
      cluster.tier().latency(FAST, MARGIN.dividedBy(2));
      for (CrailOutputStream output : outputs) {
        for (int i = 0; i < 4; i++) {
          writes.add(output.write(Bytes.buffer(Bytes.random(random, MIB - 10))));
        }
      }
      drive(Duration.ofMillis(random.nextInt(1000)));
      restart(DAYS);
      cluster.tier().latency(FAST, FAST);
      List<byte[]> expected = new ArrayList<>();
      awaitSpace();
      for (int i = 0; i < CAPACITY_MIB - 2; i++) {
        expected.add(write("/new" + i, MIB));
      }
      drive(MARGIN.multipliedBy(2));
      for (int i = 0; i < expected.size(); i++) {
        byte[] found = Bytes.read(fresh.lookup("/new" + i).get().asFile());
        assertArrayEquals(expected.get(i), found, "round " + round + ", file " + i);
        fresh.delete("/new" + i, false).get();
      }
      assertTrue(writes.stream().allMatch(Future::isDone));
      for (CrailOutputStream output : outputs) {
        assertThrows(CrailException.class, output::close);
      }
    }
  }

  @Test
  void usedSpaceIsWrittenAgainThoughTheClockIsBehind() throws Exception {
    for (int restart = 0; restart < 3; restart++) {
      awaitSpace();
      byte[] all = write("/all", 30 * MIB);
      assertArrayEquals(all, Bytes.read(fresh.lookup("/all").get().asFile()));
      restart(DAYS.multipliedBy(restart + 1));
      drive(Duration.ofSeconds(2));
    }
  }

  @Test
  void aLeaseFromBeforeIsLostAtTheFirstWordOfTheNewNamenode() throws Exception {
    CrailOutputStream output = Bytes.createFile(old, "/f").getDirectOutputStream(MIB);
    output.write(Bytes.buffer(new byte[10])).get();
    restart(Duration.ZERO);
    assertLost(output);
  }

  @Test
  void aLeaseFromBeforeIsNotRenewedWithALaterOne() throws Exception {
    CrailOutputStream output = Bytes.createFile(old, "/f").getDirectOutputStream(MIB);
    output.write(Bytes.buffer(new byte[10])).get();
    restart(Duration.ZERO);
    CrailOutputStream later = Bytes.createFile(old, "/later").getDirectOutputStream(MIB);
    drive(LEASE.multipliedBy(2));
    assertLost(output);
    later.write(Bytes.buffer(new byte[10])).get();
    later.close();
    assertEquals(10, fresh.lookup("/later").get().getCapacity());
  }

  @Test
  void aHandleFromBeforeIsOfNoLaterNodeThoughTheClockIsBehind() throws Exception {
    CrailFile file = Bytes.write(old, "/f", Bytes.random(random, 100));
    // As if it started at the very time at which the last one did.
    restart(cluster.age());
    awaitSpace();
    for (int i = 0; i < 20; i++) {
      write("/g" + i, 100);
    }
    ExecutionException failed =
        assertThrows(
            ExecutionException.class,
            () -> file.getDirectInputStream(0).read(Bytes.empty(100)).get());
    assertInstanceOf(StaleNodeException.class, failed.getCause());
  }

  @Test
  void aLeaseThatWasKeptOverARestartIsNoLease() throws Exception {
    CrailFile file = Bytes.createFile(old, "/f");
    restart(Duration.ZERO);
    CrailOutputStream output = file.getDirectOutputStream(0);
    assertLost(output);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.StaleNodeException;
import io.crail.protocol.node.RenewLeases;
import java.time.Duration;
import java.util.ArrayList;
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

/**
 * Files that are taken from their writers on a tier that can refuse no writer, in virtual time: the
 * end of the writer's lease is all that protects who gets the space next.
 */
@Tag("once")
@Timeout(300)
class SimulatedOneSidedTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration MARGIN = Duration.ofSeconds(2);
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);
  private static final Duration STEP = Duration.ofMillis(500);
  private static final Duration FAST = Duration.ofNanos(10_000);
  private static final int MIB = 1 << 20;

  private final long seed = Bytes.seed("simulated one-sided tier");
  private final Random random = new Random(seed);
  private SimulatedCluster cluster;
  private CrailStore writer;
  private CrailStore remover;
  private CrailStore next;

  @BeforeEach
  void start() throws Exception {
    cluster =
        SimulatedCluster.oneSided(
            seed,
            32 * MIB,
            "crail.rpctimeout=30s",
            "crail.datatimeout=100s",
            "crail.lease=" + LEASE.toMillis() + "ms",
            "crail.namenode.freemargin=" + MARGIN.toMillis() + "ms");
    writer = cluster.newStore("writer");
    remover = cluster.newStore("remover");
    next = cluster.newStore("next");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  /** What takes a file from its writer. */
  private interface Removal {
    void run() throws Exception;
  }

  private static CrailFile put(CrailStore store, String path) throws Exception {
    return store
        .create(
            path, CrailNodeType.KEYVALUE, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true)
        .get()
        .asKeyValue();
  }

  /** A writer that stands still from when it has looked at its lease until it is let go. */
  private Future<CrailResult> standStill(CrailOutputStream output, CrailBuffer buffer)
      throws Exception {
    cluster.tier().stall(true);
    Future<CrailResult> write = output.write(buffer);
    cluster.network().runFor(STEP);
    cluster.tier().stall(false);
    return write;
  }

  /** Takes all space that is free, and checks that no other client writes there. */
  private List<CrailFile> fill(List<byte[]> contents) throws Exception {
    List<CrailFile> files = new ArrayList<>();
    long free = cluster.usage().freeBytes();
    for (long taken = 0; taken + MIB <= free; taken += MIB) {
      contents.add(Bytes.random(random, MIB));
      files.add(Bytes.write(next, "/fill" + files.size(), contents.get(files.size())));
    }
    return files;
  }

  private static void assertUntouched(List<CrailFile> files, List<byte[]> contents)
      throws Exception {
    for (int i = 0; i < files.size(); i++) {
      assertArrayEquals(contents.get(i), Bytes.read(files.get(i)), files.get(i).getPath());
    }
  }

  @Test
  void aWriterThatSleptThroughItsLeaseWritesNowhere() throws Exception {
    CrailOutputStream output = Bytes.createFile(writer, "/taken").getDirectOutputStream(MIB);
    final Future<CrailResult> late = standStill(output, Bytes.buffer(new byte[MIB]));
    // It renews nothing, and hears nothing.
    cluster.network().partition("writer", SimulatedCluster.NAMENODE);
    remover.delete("/taken", false).get();
    cluster.network().runFor(LEASE.multipliedBy(2).plus(MARGIN).plus(KEEP_ALIVE).plus(STEP));
    cluster.awaitNothingWaits(next);
    List<byte[]> contents = new ArrayList<>();
    List<CrailFile> files = fill(contents);
    cluster.tier().releaseStalled();
    cluster.network().runFor(STEP);
    assertUntouched(files, contents);
    assertThrows(ExecutionException.class, late::get);
    assertTrue(cluster.tier().cutOffs() > 0, "no client was cut off");
  }

  @Test
  void aWriterWhoseLeaseRanOutDoesNotTouchWhatItsFileOnceHad() throws Exception {
    CrailFile file = Bytes.createFile(writer, "/taken");
    CrailOutputStream output = file.getDirectOutputStream(MIB);
    output.write(Bytes.buffer(new byte[1000])).get();
    output.sync().get();
    final Future<CrailResult> late = standStill(output, Bytes.buffer(new byte[MIB / 2]));
    cluster.network().partition("writer", SimulatedCluster.NAMENODE);
    cluster.network().runFor(LEASE.multipliedBy(2));
    // The next writer goes on after the seal; then the file goes, and all it ever had.
    CrailOutputStream more = SimulatedCluster.takeOver(remover.lookup("/taken").get().asFile());
    more.write(Bytes.buffer(new byte[10])).get();
    more.close();
    remover.delete("/taken", false).get();
    cluster.network().runFor(LEASE.plus(MARGIN).plus(KEEP_ALIVE.multipliedBy(2)));
    cluster.awaitNothingWaits(next);
    List<byte[]> contents = new ArrayList<>();
    List<CrailFile> files = fill(contents);
    cluster.tier().releaseStalled();
    cluster.network().runFor(STEP);
    assertUntouched(files, contents);
    assertThrows(ExecutionException.class, late::get);
  }

  @Test
  void spaceWaitsAsLongAsADatanodeHasNotCutItsWriterOff() throws Exception {
    CrailOutputStream output = Bytes.createFile(writer, "/taken").getDirectOutputStream(MIB);
    final Future<CrailResult> late = standStill(output, Bytes.buffer(new byte[MIB]));
    cluster.network().partition("writer", SimulatedCluster.NAMENODE);
    cluster.tier().cutOffsWait(true);
    remover.delete("/taken", false).get();
    cluster.network().runFor(LEASE.multipliedBy(20));
    TestCluster.await("the namenode has looked", () -> cluster.usage().waitingBytes() == MIB);
    List<byte[]> contents = new ArrayList<>();
    List<CrailFile> files = fill(contents);
    assertEquals(MIB, cluster.usage().waitingBytes());
    // Lands in space that still has no owner.
    cluster.tier().releaseStalled();
    cluster.network().runFor(STEP);
    assertUntouched(files, contents);
    cluster.tier().cutOffsWait(false);
    cluster.network().runFor(KEEP_ALIVE);
    cluster.awaitNothingWaits(next);
    assertTrue(late.isDone());
  }

  @Test
  void anOrderOrItsConfirmationMayBeLost() throws Exception {
    CrailOutputStream output = Bytes.createFile(writer, "/taken").getDirectOutputStream(MIB);
    final Future<CrailResult> late = standStill(output, Bytes.buffer(new byte[MIB]));
    cluster.network().partition("writer", SimulatedCluster.NAMENODE);
    remover.delete("/taken", false).get();
    cluster.network().runFor(LEASE.plus(MARGIN));
    // Now and then nothing of the datanode arrives, or nothing at it.
    cluster.network().breakConnections(0.3);
    cluster.network().runFor(LEASE.multipliedBy(3));
    cluster.network().breakConnections(0);
    cluster.network().runFor(KEEP_ALIVE.multipliedBy(3));
    cluster.awaitNothingWaits(next);
    List<byte[]> contents = new ArrayList<>();
    List<CrailFile> files = fill(contents);
    cluster.tier().releaseStalled();
    cluster.network().runFor(STEP);
    assertUntouched(files, contents);
    assertThrows(ExecutionException.class, late::get);
  }

  @Test
  void aWriterThatIsCutOffElsewhereContinues() throws Exception {
    CrailOutputStream kept = Bytes.createFile(writer, "/kept").getDirectOutputStream(0);
    byte[] bytes = Bytes.random(random, MIB);
    CrailOutputStream output = Bytes.createFile(writer, "/taken").getDirectOutputStream(MIB);
    output.write(Bytes.buffer(new byte[10])).get();
    // It never says that it has heard of the end of its file: as a program that is busy elsewhere.
    remover.delete("/taken", false).get();
    Duration slow = LEASE.dividedBy(4);
    cluster.tier().latency(slow, slow);
    long end = cluster.nanoTime() + LEASE.multipliedBy(3).toNanos();
    while (cluster.nanoTime() - end < 0) {
      // One under way at each moment.
      kept.write(Bytes.buffer(bytes)).get();
    }
    cluster.tier().latency(FAST, FAST);
    kept.close();
    cluster.awaitNothingWaits(next);
    assertTrue(cluster.tier().cutOffs() > 0, "no client was cut off");
    byte[] all = Bytes.read(next.lookup("/kept").get().asFile());
    for (int from = 0; from < all.length; from += MIB) {
      assertArrayEquals(bytes, Arrays.copyOfRange(all, from, from + MIB));
    }
    assertThrows(StaleNodeException.class, output::close);
  }

  @Test
  void unusedSpaceIsFreeAtTheClose() throws Exception {
    // More than half of the store was announced: twice would not fit if it rested.
    for (int i = 0; i < 4; i++) {
      CrailOutputStream output =
          Bytes.createFile(writer, "/announced" + i).getDirectOutputStream(0);
      for (int mib = 0; mib < 6; mib++) {
        output.write(Bytes.buffer(new byte[MIB])).get();
        // Behind what the stream has asked for meanwhile.
        output.sync().get();
      }
      assertTrue(cluster.usage().usedBytes() > (6L * i + 7) * MIB, "nothing was taken ahead");
      output.close();
      assertEquals(0, cluster.usage().waitingBytes());
      assertTrue(cluster.usage().usedBytes() <= (6L * i + 7) * MIB);
    }
  }

  /** Writes on in a file that is gone, as long as that is possible, into a block of its own. */
  private void assertWriterStops(CrailFile file, Removal removal) throws Exception {
    // Another file of the same writer, whose lease goes on.
    CrailOutputStream kept = Bytes.createFile(writer, "/kept").getDirectOutputStream(0);
    kept.write(Bytes.buffer(new byte[10])).get();
    CrailOutputStream output = file.getDirectOutputStream(MIB);
    output.write(Bytes.buffer(new byte[10])).get();
    cluster.drive(writer, LEASE);
    removal.run();
    final long removed = cluster.nanoTime();
    boolean stopped = false;
    while (cluster.nanoTime() - removed < LEASE.plus(MARGIN).plus(STEP).toNanos()) {
      cluster.drive(writer, STEP);
      stopped = stopped || !writes(output);
    }
    cluster.network().latency(FAST, FAST);
    cluster.awaitNothingWaits(writer);
    byte[] bytes = Bytes.random(random, MIB);
    CrailFile young = Bytes.write(next, "/young", bytes);
    stopped = stopped || !writes(output);
    cluster.network().runFor(STEP);
    assertArrayEquals(bytes, Bytes.read(young));
    assertTrue(stopped, "nothing has stopped the writer");
    assertThrows(StaleNodeException.class, () -> output.write(Bytes.buffer(new byte[10])));
    assertThrows(StaleNodeException.class, output::close);
    kept.write(Bytes.buffer(new byte[10])).get();
    kept.close();
    assertEquals(20, next.lookup("/kept").get().getCapacity());
  }

  /** Writes a little; false when the stream has ended. */
  private boolean writes(CrailOutputStream output) throws Exception {
    try {
      output.write(Bytes.buffer(Bytes.random(random, 100))).get();
      return true;
    } catch (StaleNodeException e) {
      return false;
    }
  }

  @Test
  void aFileThatWasDeletedElsewhereIsWrittenNoMore() throws Exception {
    CrailFile file = Bytes.createFile(writer, "/taken");
    assertWriterStops(file, () -> remover.delete("/taken", false).get());
  }

  @Test
  void aRenewalThatWasAnsweredBehindTheDeleteIsGoodForNoLonger() throws Exception {
    // Under way when the file goes, to and fro; below what a connection may take.
    Duration slow = LEASE.multipliedBy(9).dividedBy(100);
    CrailFile file = Bytes.createFile(writer, "/taken");
    // While there is time to connect.
    remover.lookup("/taken").get();
    next.lookup("/taken").get();
    assertWriterStops(
        file,
        () -> {
          cluster.network().latency(slow, slow);
          remover.delete("/taken", false).get();
        });
  }

  @Test
  void anAnswerThatTellsOfTheDeleteMayBeLost() throws Exception {
    CrailFile file = Bytes.createFile(writer, "/taken");
    assertWriterStops(
        file,
        () -> {
          cluster.network().silence("writer", SimulatedCluster.NAMENODE);
          remover.delete("/taken", false).get();
        });
  }

  @Test
  void aWriterWithMoreLeasesThanARenewalNamesLosesThoseThatAreGone() throws Exception {
    List<CrailOutputStream> outputs = new ArrayList<>();
    for (int i = 0; i < RenewLeases.MAX_LEASES + 2; i++) {
      outputs.add(Bytes.createFile(writer, "/many" + i).getDirectOutputStream(0));
    }
    cluster.drive(writer, LEASE.multipliedBy(2));
    for (int i = 0; i < outputs.size(); i += 2) {
      remover.delete("/many" + i, false).get();
    }
    cluster.drive(writer, LEASE);
    for (int i = 0; i < outputs.size(); i++) {
      CrailOutputStream output = outputs.get(i);
      if (i % 2 == 0) {
        assertThrows(StaleNodeException.class, () -> output.write(Bytes.empty(0)));
        assertThrows(StaleNodeException.class, output::close);
      } else {
        output.write(Bytes.empty(0)).get();
        output.close();
      }
    }
  }

  @Test
  void readsThatOutliveTheirLocationAreRepeated() throws Exception {
    byte[] bytes = Bytes.random(random, MIB);
    CrailFile file = Bytes.write(remover, "/slow", bytes);
    cluster.tier().latency(LEASE, LEASE);
    CrailInputStream input = file.getDirectInputStream(0);
    CrailBuffer buffer = Bytes.empty(MIB);
    final long start = cluster.nanoTime();
    Future<CrailResult> read = input.read(buffer);
    cluster.network().runFor(STEP);
    cluster.tier().latency(FAST, FAST);
    assertEquals(MIB, read.get().getLen());
    assertTrue(cluster.nanoTime() - start >= LEASE.toNanos());
    assertArrayEquals(bytes, Bytes.bytesOf(buffer));
    input.close();
  }

  @Test
  void readersNeverSeeLaterBytesInTheSamePlace() throws Exception {
    Bytes.write(remover, "/old", Bytes.random(random, MIB));
    CrailInputStream input = next.lookup("/old").get().asFile().getDirectInputStream(0);
    Duration slow = LEASE.multipliedBy(2);
    cluster.tier().latency(slow, slow);
    Future<CrailResult> read = input.read(Bytes.empty(MIB));
    cluster.network().runFor(STEP);
    remover.delete("/old", false).get();
    cluster.tier().latency(FAST, FAST);
    cluster.network().runFor(LEASE.plus(MARGIN).plus(STEP));
    cluster.awaitNothingWaits(next);
    Bytes.write(remover, "/young", Bytes.random(random, MIB));
    ExecutionException failed = assertThrows(ExecutionException.class, read::get);
    assertInstanceOf(StaleNodeException.class, failed.getCause());
    input.close();
  }

  @Test
  void aFileBelowADirectoryThatWasDeletedElsewhereIsWrittenNoMore() throws Exception {
    Bytes.create(writer, "/d", CrailNodeType.DIRECTORY);
    CrailFile file = Bytes.createFile(writer, "/d/taken");
    assertWriterStops(file, () -> remover.delete("/d", true).get());
  }

  @Test
  void aValueThatWasReplacedElsewhereIsWrittenNoMore() throws Exception {
    Bytes.create(writer, "/t", CrailNodeType.TABLE);
    CrailFile file = put(writer, "/t/taken");
    assertWriterStops(file, () -> put(remover, "/t/taken"));
  }
}

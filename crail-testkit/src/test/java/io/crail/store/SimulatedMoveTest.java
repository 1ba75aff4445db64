/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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
import io.crail.client.CoreStore;
import io.crail.client.call.ExtentMove;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.memory.OffHeapBuffer;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.ListDatanodes;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.node.BeginMove;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that readers and writers do not notice when the bytes of their files move. */
@Tag("once")
class SimulatedMoveTest {
  private static final long DATA_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int ROUNDS = 10;

  private SimulatedCluster cluster;
  private CoreStore mover;
  private CrailStore mine;
  private CrailStore theirs;

  private void start(boolean oneSided, String... settings) throws Exception {
    long seed = Bytes.seed("simulated move");
    cluster =
        oneSided
            ? SimulatedCluster.oneSided(seed, 32 << 20, settings)
            : new SimulatedCluster(seed, settings);
    cluster.startDatanode(2);
    mover = (CoreStore) cluster.newStore("mover");
    mine = cluster.newStore("mine");
    theirs = cluster.newStore("theirs");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private List<ListExtents.Placed> extents() throws Exception {
    return mover
        .connections()
        .namenodes()
        .callAt(
            0,
            NameNodeOperations.LIST_EXTENTS,
            new ListExtents.Request(ListExtents.ANY_DATANODE, 0, 0, 0))
        .join()
        .extents();
  }

  private ExtentMove begin(ListExtents.Placed placed) throws Exception {
    return begin(placed, BeginMove.ANY_DATANODE);
  }

  private ExtentMove begin(ListExtents.Placed placed, int datanode) throws Exception {
    LoopContext connections = mover.connections();
    BeginMove.Request request =
        new BeginMove.Request(placed.id(), 4711, placed.fileOffset(), placed.place(), datanode);
    ByteBuffer memory = ByteBuffer.allocateDirect(placed.length());
    ExtentMove move = new ExtentMove(connections, request, memory, DATA_NANOS);
    move.begin();
    return move;
  }

  /** Moves all there is. */
  private void moveAll() throws Exception {
    List<ListExtents.Placed> before = extents();
    assertFalse(before.isEmpty());
    for (ListExtents.Placed placed : before) {
      begin(placed).await();
    }
    Set<ListExtents.Placed> left = new HashSet<>(extents());
    left.retainAll(before);
    assertEquals(Set.of(), left);
  }

  private static CrailFile create(CrailStore store, String path) throws Exception {
    return store
        .create(
            path,
            CrailNodeType.DATAFILE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get()
        .asFile();
  }

  private static CrailFile find(CrailStore store, String path) throws Exception {
    return store.lookup(path).get().asFile();
  }

  private static void write(CrailOutputStream output, int value, int length) throws Exception {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    CrailBuffer buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length).put(0, bytes));
    output.write(buffer).get();
  }

  private static void writeAll(CrailFile file, int value, int length) throws Exception {
    CrailOutputStream output = file.getDirectOutputStream(0);
    write(output, value, length);
    output.close();
  }

  private static byte[] read(CrailInputStream input, long from, int length) throws Exception {
    ByteBuffer memory = ByteBuffer.allocateDirect(length);
    input.seek(from);
    assertEquals(length, input.read(OffHeapBuffer.wrap(memory)).get().getLen());
    byte[] bytes = new byte[length];
    memory.get(0, bytes);
    return bytes;
  }

  private static byte[] filled(int value, int length) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  private void append(String path, int value, int length) throws Exception {
    writeAll(find(theirs, path), value, length);
  }

  /** Else a drain that gets nowhere would take the space of all others. */
  @Test
  void aMoveThatCannotReadLeavesNoSpaceWaiting() throws Exception {
    start(true);
    writeAll(create(mine, "/f"), 1, 100_000);
    ListExtents.Placed placed = extents().get(0);
    int first =
        mover
            .connections()
            .namenodes()
            .callAt(0, NameNodeOperations.LIST_DATANODES, new ListDatanodes.Request(-1))
            .join()
            .ids()
            .get(0);
    cluster.crashDatanode(placed.place().datanode() == first ? 1 : 2);
    ExtentMove move = begin(placed);
    assertThrows(CrailException.class, move::await);
    assertTrue(move.isFailedAtSource());
    cluster.drive(mover, Duration.ofSeconds(1));
    assertEquals(0, cluster.usage().waitingBytes());
  }

  /** The bytes are read, or written, so slowly that the lease of the new space ends. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theEndOfALeaseNamesWhatTookTheTime(boolean slowSource) throws Exception {
    start(false, "crail.lease=2s", "crail.namenode.freemargin=1s");
    writeAll(create(theirs, "/f"), 1, 100);
    ListExtents.Placed placed = extents().get(0);
    cluster.tier().stall(each -> slowSource || !each.extent().place().equals(placed.place()));
    ExtentMove move = begin(placed);
    cluster.network().runFor(Duration.ofMillis(1800));
    assertFalse(move.isComplete());
    if (slowSource) {
      cluster.tier().releaseStalled();
    }
    // The write takes the rest of the lease, or takes all of it.
    cluster.network().runFor(Duration.ofMillis(300));
    cluster.tier().stall(false);
    cluster.tier().releaseStalled();
    cluster.network().runFor(Duration.ofMillis(100));
    assertTrue(move.isComplete());
    assertEquals(ErrorCode.TIMED_OUT, move.failure().code());
    assertEquals(slowSource, move.isFailedAtSource());
    assertEquals(placed, extents().get(0));
  }

  @Test
  void aTargetThatIsNotThereGetsNoSpace() throws Exception {
    start(false);
    writeAll(create(theirs, "/f"), 1, 100);
    ListExtents.Placed placed = extents().get(0);
    ExtentMove move = begin(placed, 4711);
    CrailException failure = assertThrows(CrailException.class, move::await);
    assertEquals(ErrorCode.UNAVAILABLE, failure.code());
    assertFalse(move.isFailedAtSource());
    assertEquals(placed, extents().get(0));
    assertEquals(0, cluster.usage().waitingBytes());
  }

  /** A reader knows where the first bytes are, and must not look there for later ones. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aReaderFindsWhatWasAppendedAfterAMove(boolean oneSided) throws Exception {
    start(oneSided);
    writeAll(create(theirs, "/f"), 1, 100);
    CrailFile file = find(mine, "/f");
    CrailInputStream input = file.getDirectInputStream(0);
    assertArrayEquals(filled(1, 100), read(input, 0, 100));
    moveAll();
    append("/f", 2, 100);
    file.refresh();
    assertArrayEquals(filled(2, 100), read(input, 100, 100));
    assertArrayEquals(filled(1, 100), read(input, 0, 100));
    input.close();
  }

  /** The same for a reader that learned of it from the writer of the same handle. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWriterThatReadsFindsWhatOthersAppendAfterAMove(boolean oneSided) throws Exception {
    start(oneSided);
    CrailFile file = create(mine, "/f");
    CrailOutputStream output = file.getDirectOutputStream(0);
    write(output, 1, 100);
    CrailInputStream input = file.getDirectInputStream(0);
    assertArrayEquals(filled(1, 100), read(input, 0, 100));
    output.close();
    moveAll();
    append("/f", 2, 100);
    file.refresh();
    assertArrayEquals(filled(2, 100), read(input, 100, 100));
    input.close();
  }

  /** An old location is as good as the new one for the time of a lease. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aReaderGoesOnWhereItIs(boolean oneSided) throws Exception {
    start(oneSided);
    writeAll(create(theirs, "/f"), 1, 3 << 20);
    CrailFile file = find(mine, "/f");
    CrailInputStream input = file.getDirectInputStream(3 << 20);
    assertArrayEquals(filled(1, 100), read(input, 0, 100));
    for (int i = 0; i < 3; i++) {
      moveAll();
      // Other bytes take what space they can get.
      writeAll(create(theirs, "/g" + i), 7, 2 << 20);
      assertArrayEquals(filled(1, 3 << 20), read(input, 0, 3 << 20));
      cluster.drive(mine, Duration.ofSeconds(30));
    }
    input.close();
  }

  /** A datanode that is empty ends, whatever is still being read from it. */
  @Test
  void aSlowReadGoesOnElsewhere() throws Exception {
    start(false, "crail.lease=2s", "crail.namenode.freemargin=1s");
    writeAll(create(theirs, "/f"), 1, 100);
    CrailFile file = find(mine, "/f");
    String host = file.getBlockLocations(0, 100)[0].getHosts()[0];
    CrailInputStream input = file.getDirectInputStream(0);
    assertArrayEquals(filled(1, 100), read(input, 0, 100));
    moveAll();
    cluster.tier().stall(true);
    ByteBuffer memory = ByteBuffer.allocateDirect(100);
    input.seek(0);
    Future<CrailResult> read = input.read(OffHeapBuffer.wrap(memory));
    cluster.tier().stall(false);
    cluster.network().runFor(Duration.ofSeconds(4));
    cluster.endDatanode(SimulatedCluster.numberOf(host));
    cluster.tier().releaseStalled();
    assertEquals(100, read.get().getLen());
    byte[] bytes = new byte[100];
    memory.get(0, bytes);
    assertArrayEquals(filled(1, 100), bytes);
    input.close();
  }

  /** A writer that comes while bytes are copied has its way, and finds its bytes. */
  @Test
  void aWriterThatComesInBetweenWins() throws Exception {
    start(false);
    writeAll(create(theirs, "/f"), 1, 100);
    ListExtents.Placed placed = extents().get(0);
    cluster.tier().stall(true);
    ExtentMove move = begin(placed);
    cluster.network().runFor(Duration.ofMillis(100));
    cluster.tier().stall(false);
    append("/f", 2, 100);
    cluster.tier().releaseStalled();
    while (!move.isComplete()) {
      cluster.network().runFor(Duration.ofMillis(10));
    }
    assertEquals(ErrorCode.STALE_EXTENT, move.failure().code());
    assertEquals(placed, extents().get(0));
    CrailInputStream input = find(mine, "/f").getDirectInputStream(0);
    assertArrayEquals(filled(2, 100), read(input, 100, 100));
    input.close();
  }

  /** A copy that may still be on its way never becomes the file. */
  @Test
  void aCopyWhoseAnswerIsLostChangesNothing() throws Exception {
    start(false, "crail.lease=2s", "crail.namenode.freemargin=1s");
    writeAll(create(theirs, "/f"), 1, 100);
    ListExtents.Placed placed = extents().get(0);
    // The bytes are placed all the same, after the mover has its answer.
    cluster.tier().failWrites(transfer -> ErrorCode.UNAVAILABLE, Duration.ofMillis(500));
    ExtentMove move = begin(placed);
    while (!move.isComplete()) {
      cluster.network().runFor(Duration.ofMillis(10));
    }
    cluster.tier().failWrites(transfer -> ErrorCode.OK, Duration.ZERO);
    assertEquals(ErrorCode.UNAVAILABLE, move.failure().code());
    assertFalse(move.isFailedAtSource());
    assertEquals(placed, extents().get(0));
    cluster.awaitNothingWaits(mine);
    moveAll();
    assertNotEquals(placed, extents().get(0));
  }

  /** Whenever the target of moves dies or is cut off, all bytes are there afterwards. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aTargetThatDiesTakesNothingWithIt(boolean oneSided) throws Exception {
    long seed = Bytes.seed("dying targets");
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(seed + round);
      start(oneSided);
      List<Integer> lengths = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        lengths.add(1 + random.nextInt(1 << 20));
        writeAll(create(theirs, "/f" + i), i, lengths.get(i));
      }
      // All go to the same place first.
      List<ListExtents.Placed> all = extents();
      int source = all.get(0).place().datanode();
      for (ListExtents.Placed placed : all) {
        if (placed.place().datanode() != source) {
          begin(placed).await();
        }
      }
      // That is final before the moves that follow.
      cluster.drive(mover, Duration.ofSeconds(30));
      int here =
          SimulatedCluster.numberOf(find(mine, "/f0").getBlockLocations(0, 1)[0].getHosts()[0]);
      for (ListExtents.Placed placed : extents()) {
        assertEquals(source, placed.place().datanode());
        begin(placed);
        cluster.network().runFor(Duration.ofMillis(random.nextInt(3)));
      }
      cluster.network().runFor(Duration.ofMillis(random.nextInt(random.nextBoolean() ? 5 : 5000)));
      if (random.nextBoolean()) {
        cluster.crashDatanode(3 - here);
      } else {
        cluster.cutOffDatanode(3 - here);
      }
      cluster.network().runFor(Duration.ofSeconds(80));
      // The namenode's own thread looks, in real time.
      TestCluster.await(
          "all is back; seed " + (seed + round),
          () -> extents().stream().allMatch(placed -> placed.place().datanode() == source));
      for (int i = 0; i < lengths.size(); i++) {
        CrailInputStream input = find(mine, "/f" + i).getDirectInputStream(0);
        assertArrayEquals(filled(i, lengths.get(i)), read(input, 0, lengths.get(i)));
        input.close();
      }
      cluster.close();
    }
  }

  /** Who looks a value up and then reads it finds it wherever it is. */
  @Test
  void valuesAreFoundWhereverTheyAre() throws Exception {
    start(false, "crail.namenode.smallvalue=4k");
    mine.create(
            "/t", CrailNodeType.TABLE, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
    for (int value : new int[] {1, 2, 3}) {
      CrailBuffer bytes = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(50_000));
      bytes.getByteBuffer().put(0, filled(value, 50_000));
      mine.put("/t/k", bytes).get();
      moveAll();
      for (CrailStore store : Stream.of(mine, theirs).toList()) {
        ByteBuffer found = ByteBuffer.allocateDirect(50_000);
        assertEquals(50_000, store.get("/t/k", OffHeapBuffer.wrap(found)).get().getLen());
        byte[] read = new byte[50_000];
        found.get(0, read);
        assertArrayEquals(filled(value, 50_000), read);
      }
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.buffer;
import static io.crail.store.Bytes.random;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads that are slow or race with a write lease, in virtual time. */
@Tag("once")
@Timeout(300)
class SimulatedReadTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final int SLICE = 64 << 10;
  private static final int VISIBLE = 5_000;
  private static final int WRITTEN = 8_000;

  /** Bytes in five blocks, where a lookup tells of four. */
  private static final int LONG = (4 << 20) + 5_000;

  private final long seed = Bytes.seed("simulated reads");
  private final Random random = new Random(seed);
  private SimulatedCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    cluster =
        new SimulatedCluster(
            seed,
            "crail.lease=" + LEASE.toMillis() + "ms",
            "crail.rpctimeout=30s",
            "crail.datatimeout=3s",
            "crail.namenode.smallvalue=4k",
            "crail.slicesize=" + SLICE,
            "crail.buffersize=" + 4 * SLICE,
            "crail.cachelimit=" + 4 * SLICE);
    store = cluster.newStore("client");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  /** What the writer wrote, of which others see a part. */
  private byte[] write(CrailOutputStream output) throws Exception {
    byte[] bytes = random(random, WRITTEN);
    output.write(buffer(Arrays.copyOf(bytes, VISIBLE))).get();
    output.sync().get();
    output.write(buffer(Arrays.copyOfRange(bytes, VISIBLE, WRITTEN))).get();
    return bytes;
  }

  /** Another writer goes on after what it sees; gives the bytes of the file. */
  private byte[] appendElsewhere(byte[] before) throws Exception {
    CrailFile file = cluster.newStore("other").lookup("/f").get().asFile();
    byte[] after = random(random, WRITTEN);
    System.arraycopy(before, 0, after, 0, VISIBLE);
    CrailOutputStream output = SimulatedCluster.takeOver(file);
    output.write(buffer(Arrays.copyOfRange(after, VISIBLE, WRITTEN))).get();
    output.close();
    return after;
  }

  @Test
  void aWriterThatHasLostItsLeaseReadsWhatOthersRead() throws Exception {
    CrailFile file = Bytes.createFile(store, "/f");
    byte[] old = write(file.getDirectOutputStream(0));
    CrailInputStream input = file.getDirectInputStream(0);
    assertArrayEquals(old, Bytes.read(input, WRITTEN));
    cluster.network().runFor(LEASE.multipliedBy(2));
    byte[] present = appendElsewhere(old);
    input.seek(0);
    assertArrayEquals(present, Bytes.read(input, WRITTEN));
    input.close();
  }

  @Test
  void locationsOfAWriterEndWithItsLease() throws Exception {
    CrailFile file = Bytes.createFile(store, "/f");
    byte[] old = write(file.getDirectOutputStream(0));
    CrailInputStream input = file.getDirectInputStream(0);
    cluster.network().partition("client", SimulatedCluster.NAMENODE);
    cluster.network().runFor(LEASE.minusSeconds(2));
    assertArrayEquals(old, Bytes.read(input, WRITTEN));
    cluster.network().runFor(Duration.ofSeconds(4));
    byte[] present = appendElsewhere(old);
    cluster.network().heal("client", SimulatedCluster.NAMENODE);
    input.seek(0);
    assertArrayEquals(present, Bytes.read(input, WRITTEN));
    input.close();
  }

  @Test
  void aSliceIsNotUsedWhileALateReadMayArriveInIt() throws Exception {
    byte[] bytes = random(random, 8 * SLICE);
    CrailFile file = Bytes.write(store, "/f", bytes);
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    // After a jump one slice is read at a time, so that others are free.
    input.seek(SLICE);
    cluster.tier().stall(true);
    assertThrows(CrailTimeoutException.class, input::read);
    cluster.tier().stall(false);
    input.seek(bytes.length);
    assertEquals(-1, input.read());
    input.seek(5 * SLICE);
    assertEquals(bytes[5 * SLICE] & 0xff, input.read());
    cluster.tier().releaseStalled();
    cluster.network().runFor(Duration.ofSeconds(1));
    byte[] rest = new byte[3 * SLICE - 1];
    assertEquals(rest.length, input.read(rest));
    assertArrayEquals(Arrays.copyOfRange(bytes, 5 * SLICE + 1, 8 * SLICE), rest);
    input.close();
  }

  @Test
  void aStreamWhoseSlicesAreAllAwayGoesOnWhenTheyAreBack() throws Exception {
    byte[] bytes = random(random, 8 * SLICE);
    CrailFile file = Bytes.write(store, "/f", bytes);
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    cluster.tier().stall(true);
    assertThrows(CrailTimeoutException.class, input::read);
    cluster.tier().stall(false);
    for (int i = 0; i < 3; i++) {
      assertThrows(CrailTimeoutException.class, input::read);
    }
    cluster.tier().releaseStalled();
    cluster.network().runFor(Duration.ofSeconds(1));
    byte[] read = new byte[bytes.length];
    assertEquals(read.length, input.read(read));
    assertArrayEquals(bytes, read);
    input.close();
  }

  /** Large ones are read and written in place. */
  @Test
  void anArrayIsItsOwnersAgainWhenTheCallEnds() throws Exception {
    byte[] bytes = random(random, 8 * SLICE);
    CrailFile file = Bytes.createFile(store, "/f");
    cluster.tier().local(true);
    CrailBufferedOutputStream output = file.getBufferedOutputStream(bytes.length);
    output.write(bytes, 0, SLICE);
    // Now it is known where the next bytes go.
    output.purge().get();
    cluster.tier().latency(Duration.ofSeconds(1), Duration.ofSeconds(1));
    byte[] array = Arrays.copyOfRange(bytes, SLICE, bytes.length);
    // The first one is tried again, from the same array.
    AtomicBoolean tried = new AtomicBoolean();
    cluster
        .tier()
        .failWrites(
            write -> tried.getAndSet(true) ? ErrorCode.OK : ErrorCode.STALE_EXTENT, Duration.ZERO);
    Thread self = Thread.currentThread();
    cluster.network().schedule(Duration.ofMillis(500), self::interrupt);
    int written = array.length;
    try {
      output.write(array);
    } catch (InterruptedIOException e) {
      written = e.bytesTransferred;
    }
    assertTrue(Thread.interrupted());
    Arrays.fill(array, 0, written, (byte) 0);
    output.write(array, written, array.length - written);
    output.close();
    CrailBufferedInputStream input = file.getBufferedInputStream(bytes.length);
    byte[] got = new byte[bytes.length];
    int read = input.read(got, 0, SLICE);
    cluster.network().schedule(Duration.ofMillis(1500), self::interrupt);
    try {
      read += input.read(got, read, got.length - read);
    } catch (InterruptedIOException e) {
      read += e.bytesTransferred;
    }
    assertTrue(Thread.interrupted());
    byte[] atReturn = got.clone();
    cluster.network().runFor(Duration.ofSeconds(10));
    assertArrayEquals(atReturn, got);
    assertEquals(bytes.length - read, input.readNBytes(got, read, bytes.length - read));
    assertArrayEquals(bytes, got);
    input.close();
  }

  @Test
  void anInterruptedSeekLeavesNoGap() throws Exception {
    byte[] bytes = random(random, 8 * SLICE);
    CrailFile file = Bytes.write(store, "/f", bytes);
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    input.readNBytes(SLICE);
    cluster.tier().stall(true);
    // The slice that is issued now stands still; those before it have come.
    input.read();
    Thread self = Thread.currentThread();
    cluster.network().schedule(Duration.ofSeconds(1), self::interrupt);
    try {
      input.seek(6 * SLICE);
    } catch (InterruptedIOException e) {
      Thread.interrupted();
    }
    cluster.tier().stall(false);
    int position = (int) input.position();
    assertEquals(bytes[position] & 0xff, input.read());
    cluster.tier().releaseStalled();
    cluster.network().runFor(Duration.ofSeconds(2));
    Thread.interrupted();
    input.close();
  }

  @Test
  void aSeekWaitsForNoReadUntilAllSlicesAreAway() throws Exception {
    byte[] bytes = random(random, 8 * SLICE);
    CrailFile file = Bytes.write(store, "/f", bytes);
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    Duration slow = Duration.ofSeconds(1);
    cluster.tier().latency(slow, slow);
    long start = cluster.nanoTime();
    for (int slice = 7; slice > 0; slice--) {
      input.seek(slice * SLICE + 1);
      assertEquals(0, input.available());
    }
    assertTrue(cluster.nanoTime() - start < slow.toNanos());
    assertEquals(bytes[SLICE + 1] & 0xff, input.read());
    input.close();
  }

  @Test
  void aClosedStreamKeepsItsMemoryAsLongAsALateReadMayArriveInIt() throws Exception {
    CrailFile file = Bytes.write(store, "/f", random(random, 8 * SLICE));
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    cluster.tier().stall(true);
    assertThrows(CrailTimeoutException.class, input::read);
    input.close();
    assertThrows(LimitExceededException.class, store::allocateBuffer);
    CrailBufferedInputStream another = file.getBufferedInputStream(0);
    assertThrows(LimitExceededException.class, another::read);
    another.close();
    cluster.tier().releaseStalled();
    cluster.network().runFor(Duration.ofSeconds(1));
    store.freeBuffer(store.allocateBuffer());
  }

  @Test
  void aReadAtAPositionKeepsItsMemoryAsLongAsItMayArriveLate() throws Exception {
    CrailFile file = Bytes.write(store, "/f", random(random, 8 * SLICE));
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    cluster.tier().stall(true);
    for (int length : new int[] {10, 8 * SLICE}) {
      byte[] array = new byte[length];
      assertThrows(CrailTimeoutException.class, () -> input.read(0, array, 0, length));
      assertThrows(LimitExceededException.class, store::allocateBuffer);
      cluster.tier().releaseStalled();
      cluster.network().runFor(Duration.ofSeconds(1));
      store.freeBuffer(store.allocateBuffer());
    }
    input.close();
  }

  @Test
  void anArrayIsFilledStraightWhereItsBytesAreOfThisHost() throws Exception {
    byte[] bytes = random(random, 20 * SLICE);
    CrailFile file = Bytes.write(store, "/f", bytes);
    cluster.tier().local(true);
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    byte[] got = new byte[bytes.length + 2];
    // Now it is known where they are.
    assertEquals(bytes.length, input.read(0, got, 0, bytes.length));
    CrailBuffer taken = store.allocateBuffer();
    assertThrows(LimitExceededException.class, store::allocateBuffer);
    assertEquals(bytes.length - 1, input.read(1, got, 2, bytes.length));
    assertArrayEquals(
        Arrays.copyOfRange(bytes, 1, bytes.length), Arrays.copyOfRange(got, 2, bytes.length + 1));
    assertEquals(0, input.position());
    store.freeBuffer(taken);
    input.close();
  }

  @Test
  void aPieceOfAnArrayIsOnItsWayWhileTheOneBeforeIs() throws Exception {
    byte[] bytes = random(random, 20 * SLICE + 123);
    CrailFile file = Bytes.write(store, "/f", bytes);
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    // The third slice stands still until there is more under way.
    AtomicBoolean followed = new AtomicBoolean();
    cluster
        .tier()
        .stall(
            read -> {
              long from = read.extent().fileOffset() + read.extentOffset();
              if (from >= 3 * SLICE && !followed.getAndSet(true)) {
                cluster.tier().releaseStalled();
              }
              return from < 3 * SLICE && from + read.length() > 2 * SLICE;
            });
    byte[] got = new byte[bytes.length];
    assertEquals(got.length, input.read(0, got, 0, got.length));
    assertArrayEquals(bytes, got);
    assertTrue(followed.get());
    input.close();
  }

  @Test
  void aClosedWriterKeepsItsMemoryAsLongAsALateWriteMayLeaveIt() throws Exception {
    CrailBufferedOutputStream output = Bytes.createFile(store, "/f").getBufferedOutputStream(0);
    cluster.tier().stall(true);
    output.write(random(random, 2 * SLICE));
    assertThrows(CrailTimeoutException.class, output::close);
    assertThrows(LimitExceededException.class, store::allocateBuffer);
    cluster.tier().releaseStalled();
    cluster.network().runFor(Duration.ofSeconds(1));
    store.freeBuffer(store.allocateBuffer());
  }

  /** A cluster with a value of more extents than a lookup tells; gives another store of it. */
  private CrailStore withLongValue(String... settings) throws Exception {
    cluster.close();
    String[] all = Arrays.copyOf(settings, settings.length + 2);
    all[settings.length] = "crail.lease=60s";
    all[settings.length + 1] = "crail.namenode.smallvalue=4k";
    cluster = new SimulatedCluster(seed, all);
    store = cluster.newStore("client");
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    CrailStore other = cluster.newStore("other");
    other.lookup("/t").get();
    store.put("/t/k", buffer(random(random, LONG))).get();
    return other;
  }

  /** What is in a buffer, whose owner has it back. */
  private static byte[] content(CrailBuffer buffer) {
    byte[] all = new byte[buffer.capacity()];
    buffer.getByteBuffer().get(0, all);
    return all;
  }

  /** A read has timed out: nothing comes into its memory any more. */
  private void assertLeftAlone(CrailBuffer target, Future<CrailResult> read) throws Exception {
    ExecutionException failed = assertThrows(ExecutionException.class, read::get);
    assertEquals(ErrorCode.TIMED_OUT, ((CrailException) failed.getCause()).code());
    byte[] atEnd = content(target);
    cluster.network().runFor(Duration.ofMinutes(2));
    assertArrayEquals(atEnd, content(target));
  }

  @Test
  void aReadHasNoMoreTimeWhenItHasToAskWhereItsBytesLie() throws Exception {
    Bytes.write(store, "/f", random(random, LONG));
    CrailInputStream input =
        cluster.newStore("other").lookup("/f").get().asFile().getDirectInputStream(0);
    // Behind the extents that came with the lookup.
    input.seek(4 << 20);
    assertEndsInTime("other", input);
    input.seek(4 << 20);
    assertEquals(5_000, Bytes.read(input, 5_000).length);
    input.close();
  }

  @Test
  void aReadHasNoMoreTimeWhenItHasToAskWhetherTheValueIsThere() throws Exception {
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    store.put("/t/k", buffer(random(random, 5_000))).get();
    CrailInputStream input = store.lookup("/t/k").get().asKeyValue().getDirectInputStream(0);
    assertEquals(5_000, Bytes.read(input, 5_000).length);
    input.seek(0);
    assertEndsInTime("client", input);
    input.close();
  }

  /** A read fails in time, though the namenode says nothing; it answers later. */
  private void assertEndsInTime(String host, CrailInputStream input) throws Exception {
    cluster.network().partition(host, SimulatedCluster.NAMENODE);
    long begin = cluster.nanoTime();
    CrailBuffer target = Bytes.empty(5_000);
    Future<CrailResult> read = input.read(target);
    assertThrows(ExecutionException.class, read::get);
    Duration took = Duration.ofNanos(cluster.nanoTime() - begin);
    assertTrue(took.compareTo(Duration.ofMillis(3_100)) < 0, took.toString());
    cluster.network().heal(host, SimulatedCluster.NAMENODE);
    assertLeftAlone(target, read);
  }

  @Test
  void aSmallValueThatComesLateIsNotForTheReader() throws Exception {
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    store.put("/t/k", buffer(random(random, 100))).get();
    CrailInputStream input = store.lookup("/t/k").get().asKeyValue().getDirectInputStream(0);
    // Which came with the lookup.
    assertEquals(1, Bytes.read(input, 1).length);
    // An answer takes longer than a read may, and less than a request.
    cluster.network().latency(Duration.ofSeconds(4), Duration.ofSeconds(4));
    CrailBuffer target = Bytes.empty(99);
    assertLeftAlone(target, input.read(target));
    input.close();
  }

  @Test
  void aGetThatLooksAgainHasNoMoreTime() throws Exception {
    CrailStore other = withLongValue("crail.rpctimeout=30s", "crail.datatimeout=3s");
    CrailBuffer target = Bytes.empty(LONG);
    store.get("/t/k", target).get();
    // The lookup takes 14 seconds, and so does the question where the last bytes lie. The lookup
    // after it is answered after 42, with a small value; the get has 33.
    cluster.network().latency(Duration.ofSeconds(7), Duration.ofSeconds(7));
    Future<CrailResult> get = store.get("/t/k", target);
    assertFalse(get.isDone());
    cluster.network().runFor(Duration.ofSeconds(1));
    Future<CrailKeyValue> put = other.put("/t/k", buffer(random(random, 100)));
    assertFalse(put.isDone());
    assertLeftAlone(target, get);
    assertTrue(put.isDone());
    assertEquals(100, put.get().getCapacity());
  }

  /** A small value is put right after the lookup of a get, which finds it in the end. */
  private void assertTakesTheNewOne(CrailStore other, ErrorCode whatReadsAreTold) throws Exception {
    cluster.network().latency(Duration.ofMillis(100), Duration.ofMillis(100));
    CrailBuffer target = Bytes.empty(LONG);
    Future<CrailResult> get = store.get("/t/k", target);
    cluster.network().runFor(Duration.ofMillis(10));
    byte[] value = random(random, 100);
    Future<CrailKeyValue> put = other.put("/t/k", buffer(value));
    assertFalse(get.isDone() || put.isDone());
    cluster.tier().failReads(whatReadsAreTold);
    assertEquals(100, get.get().getLen());
    assertArrayEquals(value, Arrays.copyOf(content(target), 100));
    assertTrue(put.isDone());
  }

  @Test
  void aGetWhoseValueIsReplacedWhileItIsReadTakesTheNewOne() throws Exception {
    // It has to ask where the last bytes lie.
    assertTakesTheNewOne(withLongValue(), ErrorCode.OK);
  }

  @Test
  void aGetWhoseDatanodeHasLeftTakesTheValueThatHasComeSince() throws Exception {
    CrailStore other = withLongValue();
    store.put("/t/k", buffer(random(random, 5_000))).get();
    assertTakesTheNewOne(other, ErrorCode.UNAVAILABLE);
  }

  @Test
  void aGetWhoseDatanodeHasLeftFailsWhileItsValueIsThere() throws Exception {
    withLongValue();
    store.put("/t/k", buffer(random(random, 5_000))).get();
    cluster.tier().failReads(ErrorCode.UNAVAILABLE);
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> store.get("/t/k", Bytes.empty(LONG)).get());
    assertEquals(ErrorCode.UNAVAILABLE, ((CrailException) failed.getCause()).code());
  }

  @Test
  void aGetReadsTheValueThatItHasFoundThoughAnotherHasComeSince() throws Exception {
    CrailStore other = withLongValue();
    byte[] value = random(random, 5_000);
    store.put("/t/k", buffer(value)).get();
    cluster.network().latency(Duration.ofMillis(100), Duration.ofMillis(100));
    CrailBuffer target = Bytes.empty(LONG);
    Future<CrailResult> get = store.get("/t/k", target);
    cluster.network().runFor(Duration.ofMillis(10));
    Future<CrailKeyValue> put = other.put("/t/k", buffer(random(random, 100)));
    assertFalse(get.isDone() || put.isDone());
    assertEquals(5_000, get.get().getLen());
    assertArrayEquals(value, Arrays.copyOf(content(target), 5_000));
    // No other question was in between, or this would have ended before it.
    assertFalse(put.isDone());
    assertEquals(100, put.get().getCapacity());
    assertEquals(100, store.get("/t/k", target).get().getLen());
  }

  @Test
  void aSmallValueWhoseGetIsOverIsNotForTheCaller() throws Exception {
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    store.put("/t/k", buffer(random(random, 100))).get();
    // Often enough that answers which may be cut apart come together.
    for (int i = 0; i < 10; i++) {
      // What is asked for beside this one leaves together.
      Future<CrailNode> alone = store.lookup("/t");
      // Whoever drives the loop stands still between two answers.
      CompletableFuture<Void> stands =
          store
              .lookup("/t")
              .toCompletableFuture(Runnable::run)
              .thenRun(() -> cluster.network().standStill(Duration.ofMinutes(2)));
      CrailBuffer target = Bytes.empty(100);
      assertLeftAlone(target, store.get("/t/k", target));
      assertArrayEquals(new byte[100], content(target));
      assertTrue(alone.isDone() && stands.isDone());
    }
  }

  @Test
  void aTierThatFailsToConnectFailsAllThatWait() throws Exception {
    Bytes.write(store, "/f", random(random, SLICE));
    CrailStore broken =
        cluster.newStore(
            "broken",
            name -> {
              throw new IllegalStateException("a bug");
            });
    CrailFile file = broken.lookup("/f").get().asFile();
    CrailInputStream input = file.getDirectInputStream(0);
    for (int i = 0; i < 2; i++) {
      ExecutionException failed =
          assertThrows(ExecutionException.class, () -> input.read(Bytes.empty(10)).get());
      assertEquals(ErrorCode.INTERNAL, ((CrailException) failed.getCause()).code());
      assertEquals("a bug", failed.getCause().getCause().getMessage());
    }
    input.close();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.range;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferCache;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.CrailResult;
import io.crail.Upcoming;
import io.crail.common.error.ClosedException;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.OutOfRangeException;
import io.crail.memory.BufferPool;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Tests how many ranges are in flight, which ranges are read as one, and how much memory that
 * takes.
 */
class RangeReaderTest {
  private static final int BUFFER = 1 << 20;

  private final BufferPool pool = new BufferPool(BUFFER, 64L * BUFFER);
  private final List<LateRead> inFlight = new ArrayList<>();
  private final List<Integer> lengths = new ArrayList<>();
  private int mostInFlight;
  private long mostBytes;

  /** Reads that do not end though a caller waits for them. */
  private boolean stuck;

  /** An interrupt is noticed when a read is issued. */
  private boolean interrupted;

  /** How many reads have copied. */
  private int copied;

  /** Length of each file. */
  private long fileLength = Long.MAX_VALUE;

  /** Where the ranges, and the reads that copy, have their buffers from. */
  private BufferPool lender = pool;

  private final PositionedReader file = newReader();

  private PositionedReader newReader() {
    return new PositionedReader(
        (CrailFile)
            Proxy.newProxyInstance(
                CrailFile.class.getClassLoader(),
                new Class<?>[] {CrailFile.class},
                (file, method, arguments) -> {
                  switch (method.getName()) {
                    case "getBufferedInputStream":
                      return new CopyingStream();
                    case "getDirectInputStream":
                      return new LateStream();
                    case "getCapacity":
                      return fileLength;
                    default:
                      assertEquals("getPath", method.getName());
                      return "/a";
                  }
                }));
  }

  /** A read that moves its bytes only when a caller waits for it. */
  private final class LateRead extends CompletableFuture<CrailResult>
      implements Upcoming<CrailResult> {
    private final long position;
    private final ByteBuffer memory;

    LateRead(long position, ByteBuffer memory) {
      this.position = position;
      this.memory = memory;
    }

    @Override
    public CrailResult get() throws ExecutionException {
      if (stuck) {
        throw new ExecutionException(ErrorCode.TIMED_OUT.exception("a read"));
      }
      end();
      return getNow(null);
    }

    void end() {
      if (inFlight.remove(this)) {
        int length = (int) Math.min(memory.remaining(), Math.max(0, fileLength - position));
        for (int i = 0; i < length; i++) {
          memory.put(memory.position() + i, valueAt(position + i));
        }
        complete(() -> length);
      }
    }

    @Override
    public CrailResult early() throws ExecutionException {
      return get();
    }

    @Override
    public CompletableFuture<CrailResult> toCompletableFuture(Executor executor) {
      return whenCompleteAsync((result, failure) -> {}, executor);
    }
  }

  /** A stream of late reads. */
  private final class LateStream implements CrailInputStream {
    private long position;

    @Override
    public CrailNode getFile() {
      throw new AssertionError();
    }

    @Override
    public Future<CrailResult> read(CrailBuffer buffer) throws InterruptedException {
      if (interrupted) {
        throw new InterruptedException();
      }
      LateRead read = new LateRead(position, buffer.getByteBuffer().duplicate());
      inFlight.add(read);
      lengths.add(read.memory.remaining());
      mostInFlight = Math.max(mostInFlight, inFlight.size());
      mostBytes = Math.max(mostBytes, inFlight.stream().mapToLong(r -> r.memory.remaining()).sum());
      return read;
    }

    @Override
    public void seek(long target) throws IOException {
      if (target < 0 || target > fileLength) {
        throw ErrorCode.OUT_OF_RANGE.exception("seek to " + target);
      }
      position = target;
    }

    @Override
    public int available() {
      return 1;
    }

    @Override
    public long position() {
      return position;
    }

    @Override
    public void close() throws Exception {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      List.copyOf(inFlight).forEach(LateRead::end);
    }
  }

  /** Reads positions through a buffer, as a store does. */
  private final class CopyingStream extends CrailBufferedInputStream {
    @Override
    protected ByteBuffer nextSlice(boolean wait) {
      throw new AssertionError();
    }

    @Override
    protected int readAt(long position, byte[] target, int offset, int length) throws IOException {
      if (position < 0) {
        throw ErrorCode.OUT_OF_RANGE.exception("read at " + position);
      }
      copied++;
      CrailBuffer buffer = lender.allocateBuffer();
      int count = (int) Math.min(length, Math.max(0, fileLength - position));
      for (int i = 0; i < count; i++) {
        target[offset + i] = valueAt(position + i);
      }
      lender.freeBuffer(buffer);
      return count == 0 ? -1 : count;
    }

    @Override
    public void seek(long position) {
      throw new AssertionError();
    }

    @Override
    public long position() {
      throw new AssertionError();
    }

    @Override
    public void close() {}
  }

  private static byte valueAt(long position) {
    return (byte) (position * 31 >> 3);
  }

  /** Begins ranges of a length, with twice as much between them. */
  private List<RangeRead> begin(RangeReader reader, int count, int length, boolean direct) {
    List<RangeRead> ranges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ByteBuffer target = direct ? ByteBuffer.allocateDirect(length) : ByteBuffer.allocate(length);
      ranges.add(reader.begin(file, 3L * i * length, target));
    }
    return ranges;
  }

  private void read(int count, int length, boolean direct) throws Exception {
    try (RangeReader reader = new RangeReader(lender, 0)) {
      begin(reader, count, length, direct).forEach(RangeReaderTest::assertFilled);
    }
    assertEquals(lender.lentCount(), lender.returnedCount());
  }

  private static void assertFilled(RangeRead range) {
    ByteBuffer data = assertDoesNotThrow(range::get);
    assertSame(range.target(), data);
    for (int i = 0; i < data.remaining(); i++) {
      assertEquals(valueAt(range.position() + i), data.get(data.position() + i));
    }
  }

  @Test
  void rangesOfTheHeapAreInFlightTogether() throws Exception {
    read(100, 1_000, false);
    assertEquals(100, mostInFlight);
    assertEquals(1, pool.lentCount());
  }

  @Test
  void directRangesNeedNoOtherMemory() throws Exception {
    read(30, 100_000, true);
    assertEquals(30, mostInFlight);
    assertEquals(0, pool.lentCount());
  }

  @Test
  void readsIntoTheHeapHaveALimit() throws Exception {
    read(30, 300_000, false);
    // Three in each of four buffers.
    assertEquals(12, mostInFlight);
    assertTrue(mostBytes <= RangeMemory.MAX_BUFFERS * BUFFER, mostBytes + " bytes");
    assertEquals(RangeMemory.MAX_BUFFERS, pool.lentCount());
  }

  @Test
  void aStoreWithFewBuffersLendsFewer() throws Exception {
    lender = new BufferPool(BUFFER, BUFFER);
    read(10, 300_000, false);
    assertEquals(3, mostInFlight);
    assertEquals(1, lender.returnedCount());
  }

  @Test
  void rangesWithoutABufferAreReadWhenOneIsFree() throws Exception {
    for (int buffer : new int[] {BUFFER, 128 << 10}) {
      lender = new BufferPool(buffer, buffer);
      int[] lengths = {100_000, 300_000, 700_000, 100_000};
      for (int last = 0; last < 2; last++) {
        try (RangeReader reader = new RangeReader(lender, 0)) {
          List<RangeRead> ranges = new ArrayList<>();
          for (int i = 0; i < lengths.length; i++) {
            ranges.add(reader.begin(file, i * 1_000_000L, ByteBuffer.allocate(lengths[i])));
          }
          if (last == 1) {
            Collections.reverse(ranges);
          }
          ranges.forEach(RangeReaderTest::assertFilled);
        }
        assertEquals(lender.lentCount(), lender.returnedCount());
      }
    }
  }

  @Test
  void nearRangesAreReadAsOne() throws Exception {
    try (RangeReader reader = new RangeReader(pool, 100)) {
      PositionedReader other = newReader();
      List<RangeRead> ranges = new ArrayList<>();
      for (long position : new long[] {1_000, 1_010, 1_120, 1_231, 5, 10}) {
        ranges.add(reader.begin(file, position, ByteBuffer.allocate(20).position(10)));
      }
      ranges.add(reader.begin(other, 20, ByteBuffer.allocate(10)));
      ranges.forEach(RangeReaderTest::assertFilled);
      // The fourth is 101 bytes away, the fifth before it, the sixth overlaps, the last elsewhere.
      assertEquals(List.of(130, 10, 10, 10, 10), lengths);
    }
  }

  @Test
  void joinedRangesAreNoLongerThanOne() throws Exception {
    try (RangeReader reader = new RangeReader(pool, 0)) {
      for (int i = 0; i < 9; i++) {
        reader.begin(file, i * 100_000L, ByteBuffer.allocate(100_000));
      }
    }
    assertEquals(List.of(500_000, 400_000), lengths);
  }

  @Test
  void joinedRangesAreNoLongerThanABuffer() throws Exception {
    lender = new BufferPool(4_096, 16 * 4_096);
    try (RangeReader reader = new RangeReader(lender, 0)) {
      List<RangeRead> ranges = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        ranges.add(reader.begin(file, i * 1_500L, ByteBuffer.allocate(1_500)));
      }
      ranges.forEach(RangeReaderTest::assertFilled);
    }
    assertEquals(List.of(3_000, 1_500), lengths);
    assertEquals(2, mostInFlight);
    assertEquals(0, copied);
  }

  @Test
  void rangesLongerThanABufferDoNotWait() throws Exception {
    lender = new BufferPool(4_096, 16 * 4_096);
    try (RangeReader reader = new RangeReader(lender, 0)) {
      begin(reader, 2, 1_000, false);
      reader.begin(file, 10_000, ByteBuffer.allocate(5_000));
      reader.begin(file, 20_000, ByteBuffer.allocate(1_000));
      reader.begin(file, 30_000, ByteBuffer.allocate(1_000));
      assertEquals(3, inFlight.size());
    }
  }

  /** With memory to go through, straight, and by itself. */
  @Test
  void theEndOfTheFileFailsTheRangesThatItCuts() throws Exception {
    fileLength = 1_000;
    for (BufferPool from : List.of(pool, new BufferPool(256, 256))) {
      lender = from;
      try (RangeReader reader = new RangeReader(lender, 0)) {
        for (boolean direct : new boolean[] {false, true}) {
          List<RangeRead> ranges = new ArrayList<>();
          for (long position : new long[] {0, 500, 1_000}) {
            ranges.add(
                reader.begin(
                    file,
                    position,
                    direct ? ByteBuffer.allocateDirect(500) : ByteBuffer.allocate(500)));
          }
          assertFilled(ranges.get(0));
          assertFilled(ranges.get(1));
          assertThrows(EOFException.class, ranges.get(2)::get);
          assertFalse(ranges.get(2).isLate());
        }
      }
    }
  }

  private void assertErrors(int length, int maxGapBytes, boolean direct) throws Exception {
    try (RangeReader reader = new RangeReader(pool, maxGapBytes)) {
      List<RangeRead> ranges = new ArrayList<>();
      for (long position : new long[] {-length, 0, 1_001 - length, 1_000, 1_001, 1_001 + length}) {
        ranges.add(
            reader.begin(
                file,
                position,
                direct ? ByteBuffer.allocateDirect(length) : ByteBuffer.allocate(length)));
      }
      assertThrows(OutOfRangeException.class, ranges.get(0)::get);
      if (length <= fileLength) {
        assertFilled(ranges.get(1));
      } else {
        assertThrows(EOFException.class, ranges.get(1)::get);
      }
      Class<? extends Exception> cut =
          length <= fileLength ? EOFException.class : OutOfRangeException.class;
      assertThrows(cut, ranges.get(2)::get);
      assertThrows(EOFException.class, ranges.get(3)::get);
      assertThrows(OutOfRangeException.class, ranges.get(4)::get);
      assertThrows(OutOfRangeException.class, ranges.get(5)::get);
    }
  }

  @Test
  void theErrorOfARangeDependsOnItsPlaceAlone() throws Exception {
    fileLength = 1_000;
    for (int length : new int[] {10, 600_000}) {
      for (int maxGapBytes : new int[] {0, 4_096}) {
        assertErrors(length, maxGapBytes, false);
        assertErrors(length, maxGapBytes, true);
      }
    }
  }

  @Test
  void aRangeAfterTheEndFailsBesideOneThatIsThere() throws Exception {
    fileLength = 1_000;
    try (RangeReader reader = new RangeReader(pool, 4_096)) {
      RangeRead last = reader.begin(file, 900, ByteBuffer.allocate(100));
      RangeRead after = reader.begin(file, 1_100, ByteBuffer.allocate(10));
      assertFilled(last);
      assertThrows(OutOfRangeException.class, after::get);
    }
    assertEquals(List.of(210), lengths);
  }

  @Test
  void anInterruptStaysSetWhenARangeCannotBeIssued() throws Exception {
    interrupted = true;
    try (RangeReader reader = new RangeReader(pool, 0)) {
      RangeRead range = reader.begin(file, 0, ByteBuffer.allocateDirect(10));
      assertTrue(Thread.interrupted());
      assertThrows(InterruptedIOException.class, range::get);
      range = reader.begin(file, 0, ByteBuffer.allocate(10));
      reader.close();
      assertTrue(Thread.interrupted());
      assertThrows(InterruptedIOException.class, range::get);
    }
  }

  @Test
  void aRangeEndsThoughTheMemoryIsNotTakenBack() throws Exception {
    List<CrailBuffer> offered = new ArrayList<>();
    CrailBufferCache broken =
        new CrailBufferCache() {
          @Override
          public CrailBuffer allocateBuffer() throws Exception {
            return pool.allocateBuffer();
          }

          @Override
          public void freeBuffer(CrailBuffer buffer) {
            offered.add(buffer);
            throw new IllegalStateException("not now");
          }
        };
    RangeReader reader = new RangeReader(broken, 0);
    begin(reader, 4, 300_000, false);
    RangeRead apart = reader.begin(file, 0, ByteBuffer.allocate(700_000));
    assertThrows(IllegalStateException.class, apart::get);
    assertTrue(apart.hasEnded());
    assertEquals(2, offered.size());
    assertFilled(apart);
    reader.close();
    assertEquals(2, offered.size());
  }

  @Test
  void queuedRangesAreNotReadAtTheClose() throws Exception {
    RangeReader reader = new RangeReader(pool, 0);
    RangeRead apart = reader.begin(file, 0, ByteBuffer.allocate(700_000));
    RangeRead issued = reader.begin(file, 0, ByteBuffer.allocate(1_000));
    reader.close();
    assertThrows(ClosedException.class, apart::get);
    assertFalse(apart.isLate());
    assertFilled(issued);
    assertEquals(0, copied);
  }

  @Test
  void nothingBeginsAfterTheClose() throws Exception {
    RangeReader reader = new RangeReader(pool, 0);
    reader.close();
    for (ByteBuffer target : List.of(ByteBuffer.allocate(10), ByteBuffer.allocateDirect(10))) {
      assertThrows(ClosedException.class, reader.begin(file, 0, target)::get);
    }
    reader.close();
    assertEquals(List.of(), lengths);
    assertEquals(0, pool.lentCount());
  }

  @Test
  void aTargetThatHasNoRoomAnyMoreFailsNoOther() throws Exception {
    try (RangeReader reader = new RangeReader(pool, 0)) {
      List<RangeRead> ranges = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        ranges.add(reader.begin(file, i * 10L, ByteBuffer.allocate(10)));
      }
      ranges.get(1).target().limit(5);
      assertFilled(ranges.get(0));
      assertThrows(IndexOutOfBoundsException.class, ranges.get(1)::get);
      assertFilled(ranges.get(2));
    }
    assertEquals(List.of(30), lengths);
  }

  @Test
  void anEmptyRangeNeedsNothing() throws Exception {
    try (RangeReader reader = new RangeReader(pool, 0)) {
      assertFilled(reader.begin(file, 5, ByteBuffer.allocate(0)));
      assertThrows(
          IllegalArgumentException.class,
          () -> reader.begin(file, 5, ByteBuffer.allocate(1).asReadOnlyBuffer()));
    }
    assertEquals(List.of(), lengths);
    assertEquals(0, pool.lentCount());
  }

  @Test
  void aLateReadKeepsItsMemoryUntilItEnds() throws Exception {
    stuck = true;
    try (RangeReader reader = new RangeReader(pool, 0)) {
      for (RangeRead range : begin(reader, 2, 1_000, false)) {
        assertThrows(CrailTimeoutException.class, range::get);
        // The heap is the caller's again: a late read fills other memory.
        assertFalse(range.isLate());
      }
    }
    assertEquals(1, pool.lentCount());
    assertEquals(0, pool.returnedCount());
    inFlight.get(0).end();
    assertEquals(0, pool.returnedCount());
    inFlight.get(0).end();
    assertEquals(1, pool.returnedCount());
  }

  @Test
  void aLateReadKeepsTheDirectMemoryOfItsCaller() throws Exception {
    stuck = true;
    try (RangeReader reader = new RangeReader(pool, 0)) {
      for (RangeRead range : begin(reader, 2, 1_000, true)) {
        assertThrows(CrailTimeoutException.class, range::get);
        assertTrue(range.isLate());
      }
    }
  }

  @Test
  void memoryIsNotLostWhenTheCloseIsInterrupted() throws Exception {
    stuck = true;
    try (RangeReader reader = new RangeReader(pool, 0)) {
      begin(reader, 2, 1_000, false);
    }
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, file::close);
    assertEquals(0, pool.returnedCount());
    List.copyOf(inFlight).forEach(LateRead::end);
    assertEquals(1, pool.returnedCount());
  }
}

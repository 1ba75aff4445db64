/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.CrailResult;
import io.crail.Upcoming;
import io.crail.common.error.ErrorCode;
import io.crail.memory.BufferPool;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** How many ranges of a vectored read are in flight, and what memory they take for that. */
class VectoredReadTest {
  private static final int BUFFER = 1 << 20;

  private final BufferPool pool = new BufferPool(BUFFER, 64L * BUFFER);
  private final List<LateRead> inFlight = new ArrayList<>();
  private final List<Integer> counted = new ArrayList<>();
  private final List<ByteBuffer> released = new ArrayList<>();
  private int mostInFlight;
  private long mostBytes;

  /** Reads that do not end though somebody waits for them. */
  private boolean stuck;

  /** Where the reads that copy have their buffers from. */
  private BufferPool lender;

  private final PositionedReader reader =
      new PositionedReader(
          (CrailFile)
              Proxy.newProxyInstance(
                  CrailFile.class.getClassLoader(),
                  new Class<?>[] {CrailFile.class},
                  (file, method, arguments) -> {
                    if (method.getName().equals("getBufferedInputStream")) {
                      return new CopyingStream();
                    }
                    assertEquals("getDirectInputStream", method.getName());
                    return new LateStream();
                  }));

  /** A read that moves its bytes when it is waited for, and no sooner. */
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
        int length = memory.remaining();
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
    public Future<CrailResult> read(CrailBuffer buffer) {
      LateRead read = new LateRead(position, buffer.getByteBuffer().duplicate());
      inFlight.add(read);
      mostInFlight = Math.max(mostInFlight, inFlight.size());
      mostBytes = Math.max(mostBytes, inFlight.stream().mapToLong(r -> r.memory.remaining()).sum());
      return read;
    }

    @Override
    public void seek(long target) {
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

  /** Reads positions by way of a buffer, as a store does. */
  private final class CopyingStream extends CrailBufferedInputStream {
    @Override
    protected ByteBuffer nextSlice(boolean wait) {
      throw new AssertionError();
    }

    @Override
    protected int readAt(long position, byte[] target, int offset, int length) throws IOException {
      CrailBuffer buffer = lender.allocateBuffer();
      for (int i = 0; i < length; i++) {
        target[offset + i] = valueAt(position + i);
      }
      lender.freeBuffer(buffer);
      return length;
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

  private static List<FileRange> ranges(int count, int length) {
    List<FileRange> ranges = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ranges.add(FileRange.createFileRange(3L * i * length, length));
    }
    return ranges;
  }

  private void read(BufferPool from, List<FileRange> ranges, boolean direct) throws Exception {
    lender = from;
    new VectoredRead(new Path("/a"), reader, from, released::add, counted::add)
        .read(ranges, direct ? ByteBuffer::allocateDirect : ByteBuffer::allocate);
  }

  private void assertFilled(List<FileRange> ranges) throws Exception {
    for (FileRange range : ranges) {
      ByteBuffer data = range.getData().get();
      assertEquals(range.getLength(), data.remaining());
      for (int i = 0; i < range.getLength(); i++) {
        assertEquals(valueAt(range.getOffset() + i), data.get(i));
      }
    }
    assertEquals(ranges.size(), counted.size());
    assertEquals(pool.lentCount(), pool.returnedCount());
  }

  @Test
  void rangesOfTheHeapAreInFlightTogether() throws Exception {
    List<FileRange> ranges = ranges(100, 1_000);
    read(pool, ranges, false);
    assertEquals(100, mostInFlight);
    assertEquals(1, pool.lentCount());
    assertFilled(ranges);
  }

  @Test
  void directRangesNeedNoOtherMemory() throws Exception {
    List<FileRange> ranges = ranges(30, 100_000);
    read(pool, ranges, true);
    assertEquals(30, mostInFlight);
    assertEquals(0, pool.lentCount());
    assertFilled(ranges);
  }

  @Test
  void whatIsInFlightForTheHeapHasALimit() throws Exception {
    List<FileRange> ranges = ranges(30, 300_000);
    read(pool, ranges, false);
    // Three in each of four buffers.
    assertEquals(12, mostInFlight);
    assertTrue(mostBytes <= RangeMemory.MAX_BUFFERS * BUFFER, mostBytes + " bytes");
    assertEquals(RangeMemory.MAX_BUFFERS, pool.lentCount());
    assertFilled(ranges);
  }

  @Test
  void aStoreWithFewBuffersLendsFewer() throws Exception {
    BufferPool small = new BufferPool(BUFFER, BUFFER);
    List<FileRange> ranges = ranges(10, 300_000);
    read(small, ranges, false);
    assertEquals(3, mostInFlight);
    assertEquals(1, small.returnedCount());
    assertFilled(ranges);
  }

  @Test
  void whatFindsNoPlaceIsReadWhenTheBuffersAreFreeAgain() throws Exception {
    for (int buffer : new int[] {BUFFER, 128 << 10}) {
      BufferPool small = new BufferPool(buffer, buffer);
      counted.clear();
      List<FileRange> ranges =
          List.of(
              FileRange.createFileRange(0, 100_000),
              FileRange.createFileRange(1_000_000, 300_000),
              FileRange.createFileRange(2_000_000, 700_000),
              FileRange.createFileRange(3_000_000, 100_000));
      read(small, ranges, false);
      assertFilled(ranges);
      assertEquals(small.lentCount(), small.returnedCount());
    }
  }

  @Test
  void aLateReadKeepsItsMemoryUntilItEnds() throws Exception {
    stuck = true;
    List<FileRange> ranges = ranges(2, 1_000);
    read(pool, ranges, false);
    assertEquals(List.of(-1, -1), counted);
    // The heap is the caller's again: a late read fills other memory.
    assertEquals(2, released.size());
    for (FileRange range : ranges) {
      assertThrows(ExecutionException.class, () -> range.getData().get());
    }
    assertEquals(1, pool.lentCount());
    assertEquals(0, pool.returnedCount());
    inFlight.get(0).end();
    assertEquals(0, pool.returnedCount());
    inFlight.get(0).end();
    assertEquals(1, pool.returnedCount());
  }

  @Test
  void memoryIsNotLostWhenTheCloseIsInterrupted() throws Exception {
    stuck = true;
    read(pool, ranges(2, 1_000), false);
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, reader::close);
    assertEquals(0, pool.returnedCount());
    List.copyOf(inFlight).forEach(LateRead::end);
    assertEquals(1, pool.returnedCount());
  }

  @Test
  void aBufferWithoutRoomEndsTheReadWithNothingLost() throws Exception {
    for (ByteBuffer bad :
        List.of(ByteBuffer.allocate(999), ByteBuffer.allocate(1_000).asReadOnlyBuffer())) {
      List<FileRange> ranges = ranges(3, 1_000);
      counted.clear();
      assertThrows(
          IllegalArgumentException.class,
          () ->
              new VectoredRead(new Path("/a"), reader, pool, released::add, counted::add)
                  .read(
                      ranges, length -> counted(ranges) == 2 ? bad : ByteBuffer.allocate(length)));
      assertFilled(ranges.subList(0, 2));
      assertNull(ranges.get(2).getData());
    }
  }

  private static long counted(List<FileRange> ranges) {
    return ranges.stream().filter(range -> range.getData() != null).count();
  }

  @Test
  void whoCannotReleaseABufferLeavesNoRangeOpen() throws Exception {
    stuck = true;
    List<FileRange> ranges = ranges(3, 1_000);
    new VectoredRead(
            new Path("/a"),
            reader,
            pool,
            buffer -> {
              throw new IllegalStateException("not mine");
            },
            counted::add)
        .read(ranges, ByteBuffer::allocate);
    assertEquals(List.of(-1, -1, -1), counted);
    for (FileRange range : ranges) {
      assertThrows(ExecutionException.class, () -> range.getData().get());
    }
    List.copyOf(inFlight).forEach(LateRead::end);
    assertEquals(pool.lentCount(), pool.returnedCount());
  }
}

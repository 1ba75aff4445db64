/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.CrailResult;
import io.crail.common.error.ErrorCode;
import io.crail.memory.BufferPool;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
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

  private final PositionedReader reader =
      new PositionedReader(
          (CrailFile)
              Proxy.newProxyInstance(
                  CrailFile.class.getClassLoader(),
                  new Class<?>[] {CrailFile.class},
                  (file, method, arguments) -> {
                    assertEquals("getDirectInputStream", method.getName());
                    return new LateStream();
                  }));

  /** A read that moves its bytes when it is waited for, and no sooner. */
  private final class LateRead extends CompletableFuture<CrailResult> {
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
      if (inFlight.remove(this)) {
        int length = memory.remaining();
        for (int i = 0; i < length; i++) {
          memory.put(memory.position() + i, valueAt(position + i));
        }
        complete(() -> length);
      }
      return getNow(null);
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
      stuck = false;
      for (LateRead read : List.copyOf(inFlight)) {
        read.get();
      }
    }
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

  private void read(BufferPool lender, List<FileRange> ranges, boolean direct) throws Exception {
    new VectoredRead(new Path("/a"), reader, lender, released::add, counted::add)
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
    reader.close();
    assertEquals(1, pool.returnedCount());
  }
}

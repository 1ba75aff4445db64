/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailResult;
import io.crail.common.error.ErrorCode;
import io.crail.memory.BufferPool;
import io.crail.range.PositionedReader;
import io.crail.range.RangeReader;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.junit.jupiter.api.Test;

/** Tests what happens to Hadoop's ranges and buffers when a vectored read fails. */
class VectoredReadTest {
  private static final byte FILLED = 7;

  private final BufferPool pool = new BufferPool(1 << 20, 4 << 20);
  private final List<Integer> counted = new ArrayList<>();
  private final List<ByteBuffer> released = new ArrayList<>();
  private boolean broken;

  private final PositionedReader file =
      new PositionedReader(
          proxy(
              CrailFile.class,
              (method, arguments) -> {
                assertEquals("getDirectInputStream", method);
                return proxy(CrailInputStream.class, this::stream);
              }));

  /** The behaviour of a fake when it is called. */
  private interface Fake {
    Object call(String method, Object[] arguments);
  }

  private static <T> T proxy(Class<T> type, Fake fake) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> fake.call(method.getName(), arguments)));
  }

  private Object stream(String method, Object[] arguments) {
    if (method.equals("seek")) {
      return null;
    }
    assertEquals("read", method);
    ByteBuffer memory = ((CrailBuffer) arguments[0]).getByteBuffer();
    int length = memory.remaining();
    if (broken) {
      return CompletableFuture.failedFuture(ErrorCode.DATA_LOST.exception("a range"));
    }
    for (int i = 0; i < length; i++) {
      memory.put(memory.position() + i, FILLED);
    }
    return CompletableFuture.<CrailResult>completedFuture(() -> length);
  }

  private static List<FileRange> ranges() {
    return List.of(
        FileRange.createFileRange(0, 1_000),
        FileRange.createFileRange(9_000, 1_000),
        FileRange.createFileRange(18_000, 1_000));
  }

  private VectoredRead newRead(Consumer<ByteBuffer> release) {
    return new VectoredRead(new Path("/a"), file, new RangeReader(pool, 0), release, counted::add);
  }

  private static void assertFilled(FileRange range) throws Exception {
    ByteBuffer data = range.getData().get();
    assertEquals(range.getLength(), data.remaining());
    assertEquals(FILLED, data.get(data.limit() - 1));
  }

  private void assertFailed(List<FileRange> ranges) {
    assertEquals(List.of(-1, -1, -1), counted);
    for (FileRange range : ranges) {
      Throwable error =
          assertThrows(ExecutionException.class, () -> range.getData().get()).getCause();
      assertSame(PathIOException.class, error.getClass());
    }
    assertEquals(pool.lentCount(), pool.returnedCount());
  }

  @Test
  void aBufferMayBeLongerThanItsRange() throws Exception {
    List<FileRange> ranges = ranges();
    newRead(released::add).read(ranges, length -> ByteBuffer.allocate(2 * length));
    for (FileRange range : ranges) {
      assertFilled(range);
    }
    assertEquals(List.of(1_000, 1_000, 1_000), counted);
    assertEquals(List.of(), released);
  }

  @Test
  void aBufferWithoutRoomEndsTheReadWithNothingLost() throws Exception {
    for (ByteBuffer bad :
        List.of(ByteBuffer.allocate(999), ByteBuffer.allocate(1_000).asReadOnlyBuffer())) {
      List<FileRange> ranges = ranges();
      counted.clear();
      assertThrows(
          IllegalArgumentException.class,
          () ->
              newRead(released::add)
                  .read(
                      ranges,
                      length ->
                          ranges.get(1).getData() == null ? ByteBuffer.allocate(length) : bad));
      assertFilled(ranges.get(0));
      assertFilled(ranges.get(1));
      assertNull(ranges.get(2).getData());
      assertEquals(pool.lentCount(), pool.returnedCount());
    }
  }

  @Test
  void aBufferOfARangeThatFailedIsReleased() throws Exception {
    broken = true;
    List<FileRange> ranges = ranges();
    newRead(released::add).read(ranges, ByteBuffer::allocate);
    assertFailed(ranges);
    assertEquals(3, released.size());
  }

  @Test
  void aFailedReleaseLeavesNoRangeOpen() throws Exception {
    broken = true;
    for (Error error : List.of(new AssertionError("not mine"), new OutOfMemoryError("none"))) {
      List<FileRange> ranges = ranges();
      counted.clear();
      newRead(
              buffer -> {
                throw error;
              })
          .read(ranges, ByteBuffer::allocate);
      assertFailed(ranges);
    }
    List<FileRange> ranges = ranges();
    counted.clear();
    newRead(
            buffer -> {
              throw new IllegalStateException("not mine");
            })
        .read(ranges, ByteBuffer::allocate);
    assertFailed(ranges);
  }
}

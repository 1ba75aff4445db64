/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.CrailBufferCache;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.Path;

/**
 * A vectored read. All ranges with direct buffers are in flight together; of those on the heap as
 * many as {@link RangeMemory} has room for, then the next. Those that it has no room for are read
 * one after the other in the end, when they find its buffers free. Used by one thread.
 */
final class VectoredRead {
  private final Path path;
  private final PositionedReader reader;
  private final RangeMemory memory;
  private final Consumer<ByteBuffer> release;
  private final IntConsumer ended;
  private final List<RangeRead> begun = new ArrayList<>();
  private final List<RangeRead> last = new ArrayList<>();

  /**
   * Describes a read.
   *
   * @param release takes the buffer of a range that could not be read
   * @param ended is told the bytes of each range, -1 for a failure
   */
  VectoredRead(
      Path path,
      PositionedReader reader,
      CrailBufferCache cache,
      Consumer<ByteBuffer> release,
      IntConsumer ended) {
    this.path = path;
    this.reader = reader;
    this.memory = new RangeMemory(cache);
    this.release = release;
    this.ended = ended;
  }

  /**
   * Reads, and completes the future of each range.
   *
   * @throws IllegalArgumentException for a buffer without room for its range; the ranges before it
   *     were read, those from it on have no future
   */
  void read(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate) throws IOException {
    try {
      for (FileRange range : ranges) {
        ByteBuffer buffer = checked(allocate.apply(range.getLength()), range);
        RangeRead read = new RangeRead(path, reader, range, buffer);
        if (read.needsMemory() && !read.place(memory)) {
          endAll(begun);
          memory.reuse();
          read.place(memory);
        }
        (read.readsAtEnd() ? last : begun).add(read);
        read.begin();
      }
    } finally {
      // Also when there was no memory for all of them: what has begun comes to an end.
      endAll(begun);
      try {
        HadoopErrors.translate(path, this::giveBack);
      } finally {
        endAll(last);
      }
    }
  }

  private static ByteBuffer checked(ByteBuffer buffer, FileRange range) {
    if (buffer.isReadOnly() || buffer.remaining() < range.getLength()) {
      throw new IllegalArgumentException("no room for " + range + " in " + buffer);
    }
    return buffer;
  }

  private Void giveBack() throws Exception {
    memory.giveBack();
    return null;
  }

  private void endAll(List<RangeRead> reads) {
    for (RangeRead read : reads) {
      ended.accept(read.end(memory, release));
    }
    reads.clear();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.range.PositionedReader;
import io.crail.range.RangeRead;
import io.crail.range.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.Path;

/**
 * A vectored read, with ranges, buffers and errors as Hadoop requires them. Used by one thread,
 * once.
 */
final class VectoredRead {
  private final Path path;
  private final PositionedReader file;
  private final RangeReader reader;
  private final Consumer<ByteBuffer> release;
  private final IntConsumer ended;

  /**
   * Describes a read.
   *
   * @param reader closed at the end
   * @param release takes the buffer of a range that could not be read
   * @param ended gets the bytes of each range, -1 for a failure
   */
  VectoredRead(
      Path path,
      PositionedReader file,
      RangeReader reader,
      Consumer<ByteBuffer> release,
      IntConsumer ended) {
    this.path = path;
    this.file = file;
    this.reader = reader;
    this.release = release;
    this.ended = ended;
  }

  /**
   * Reads, and completes the future of each range.
   *
   * @throws IllegalArgumentException for a buffer without room for its range; the ranges before it
   *     were read, and the ranges from it on have no future
   */
  void read(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate) throws IOException {
    List<RangeRead> begun = new ArrayList<>();
    try {
      for (FileRange range : ranges) {
        ByteBuffer buffer = allocate.apply(range.getLength());
        if (buffer.remaining() < range.getLength()) {
          throw new IllegalArgumentException("no room for " + range + " in " + buffer);
        }
        buffer.limit(buffer.position() + range.getLength());
        begun.add(reader.begin(file, range.getOffset(), buffer));
        range.setData(new CompletableFuture<>());
      }
    } finally {
      // Also when there was no memory for all ranges: the ranges that have begun are ended.
      for (int i = 0; i < begun.size(); i++) {
        end(begun.get(i), ranges.get(i).getData());
      }
      HadoopErrors.translate(path, this::close);
    }
  }

  private void end(RangeRead range, CompletableFuture<ByteBuffer> data) {
    int count = -1;
    try {
      data.complete(HadoopErrors.translate(path, range::get));
      count = range.target().remaining();
    } catch (IOException | RuntimeException | Error e) {
      data.completeExceptionally(e);
      if (!range.isLate()) {
        release(range.target(), e);
      }
    }
    ended.accept(count);
  }

  /** The remaining ranges must be ended, whatever the caller's release does. */
  private void release(ByteBuffer buffer, Throwable cause) {
    try {
      release.accept(buffer);
    } catch (RuntimeException | Error e) {
      cause.addSuppressed(e);
    }
  }

  private Void close() throws Exception {
    reader.close();
    return null;
  }
}

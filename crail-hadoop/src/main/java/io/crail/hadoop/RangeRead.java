/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.CrailBuffer;
import io.crail.CrailResult;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.Path;

/**
 * One range of a vectored read. Into direct memory it is under way from {@link #begin} on, and into
 * memory of the heap when it has a {@linkplain #place place} of direct memory to go through; else
 * all of it happens in {@link #end}. Used by one thread.
 */
final class RangeRead {
  private final Path path;
  private final PositionedReader reader;
  private final FileRange range;
  private final ByteBuffer buffer;
  private final CompletableFuture<ByteBuffer> data = new CompletableFuture<>();

  /** Through what a range of the heap goes; null for others. */
  private CrailBuffer place;

  /** The read into direct memory; null for others, and when it could not be issued. */
  private Future<CrailResult> issued;

  private IOException failure;

  /**
   * Describes a read.
   *
   * @param buffer has room for the range
   */
  RangeRead(Path path, PositionedReader reader, FileRange range, ByteBuffer buffer) {
    this.path = path;
    this.reader = reader;
    this.range = range;
    this.buffer = buffer;
  }

  /** True when this has to go through other memory to be under way at once. */
  boolean needsMemory() {
    int length = range.getLength();
    return !buffer.isDirect() && length > 0 && length <= RangeMemory.MAX_LENGTH;
  }

  /** Takes the memory to go through; false when there is none now. */
  boolean place(RangeMemory memory) throws IOException {
    place = HadoopErrors.translate(path, () -> memory.take(range.getLength()));
    return place != null;
  }

  /** True when this is read in {@link #end}, which may take a buffer of the store. */
  boolean readsAtEnd() {
    return !buffer.isDirect() && place == null;
  }

  /** Gives the range its future, and issues the read where that can be done. */
  void begin() {
    range.setData(data);
    try {
      if (place != null) {
        issued = HadoopErrors.translate(path, () -> reader.issue(range.getOffset(), place));
      } else if (buffer.isDirect()) {
        issued = HadoopErrors.translate(path, () -> reader.issue(range.getOffset(), target()));
      }
    } catch (IOException e) {
      failure = e;
    }
  }

  /**
   * Waits for the bytes and completes the future of the range, with the error if there is one.
   *
   * @param memory where a range of the heap has its place
   * @param release takes the buffer of a read that has failed
   * @return bytes read; -1 after a failure
   */
  int end(RangeMemory memory, Consumer<ByteBuffer> release) {
    try {
      if (failure != null) {
        throw failure;
      }
      int count = HadoopErrors.translate(path, this::await);
      if (count < range.getLength()) {
        throw new EOFException(FSExceptionMessages.EOF_IN_READ_FULLY + ": " + path);
      }
      if (place != null) {
        buffer.put(buffer.position(), place.getByteBuffer(), 0, count);
      }
      data.complete(buffer.limit(buffer.position() + count));
      return count;
    } catch (IOException | RuntimeException e) {
      data.completeExceptionally(e);
      // A read that has not ended in time keeps its memory.
      boolean isLate = issued != null && !issued.isDone();
      if (isLate && place != null) {
        memory.late(issued);
      }
      if (!isLate || place != null) {
        release(release, e);
      }
      return -1;
    }
  }

  /** Other ranges are still to be ended, whatever the caller's way of releasing does. */
  private void release(Consumer<ByteBuffer> release, Exception cause) {
    try {
      release.accept(buffer);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  private int await() throws Exception {
    if (issued != null) {
      return PositionedReader.await(issued);
    }
    return range.getLength() == 0 ? 0 : reader.read(range.getOffset(), target());
  }

  /** The part of the buffer that is to be filled. */
  private ByteBuffer target() {
    ByteBuffer target = buffer.duplicate();
    return target.limit(target.position() + range.getLength());
  }
}

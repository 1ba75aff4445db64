/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding.dynamicIOStatistics;

import io.crail.cache.CacheStatistics.Counter;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.VectoredReadUtils;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.apache.hadoop.fs.statistics.impl.DynamicIOStatisticsBuilder;

/**
 * Reads a cached file. Each read takes its bytes from the block that has them, and from the source
 * if there is no block. A stream that is read in sequence fetches blocks ahead. The file ends at
 * the length that it had when it was opened.
 *
 * <p>Thread-safe. Sequential reads take turns; positioned reads do not wait for other reads.
 */
final class CachedInputStream extends FSInputStream
    implements ByteBufferReadable,
        ByteBufferPositionedReadable,
        CanUnbuffer,
        StreamCapabilities,
        IOStatisticsSource {
  private static final List<String> COUNTED =
      List.of(
          StreamStatisticNames.STREAM_READ_OPERATIONS,
          StreamStatisticNames.STREAM_READ_BYTES,
          StreamStatisticNames.STREAM_READ_EXCEPTIONS,
          StreamStatisticNames.STREAM_READ_SEEK_OPERATIONS,
          StreamStatisticNames.STREAM_READ_UNBUFFERED,
          StreamStatisticNames.STREAM_READ_VECTORED_INCOMING_RANGES,
          StreamStatisticNames.STREAM_READ_VECTORED_OPERATIONS);

  private static final int OPERATIONS = 0;
  private static final int BYTES = 1;
  private static final int EXCEPTIONS = 2;
  private static final int SEEKS = 3;
  private static final int UNBUFFERED = 4;
  private static final int RANGES = 5;
  private static final int VECTORED = 6;

  /** No block was read yet. */
  private static final long NONE = Long.MIN_VALUE;

  private final CachedFile file;
  private final BlockCache cache;
  private final int readAhead;
  private final CacheStatistics cacheStatistics;
  private final FileSystem.Statistics statistics;

  /** By the place of the name in {@link #COUNTED}. A store of Hadoop's would be most of an open. */
  private final AtomicLongArray counters = new AtomicLongArray(COUNTED.size());

  /** Where the next sequential read begins. */
  private long position;

  /** The block that was used last, and its index; not pinned. */
  private volatile Used last = new Used(NONE, null);

  private volatile boolean closed;

  private record Used(long index, Block block) {}

  CachedInputStream(
      CachedFile file,
      BlockCache cache,
      int readAhead,
      CacheStatistics cacheStatistics,
      FileSystem.Statistics statistics) {
    this.file = file;
    this.cache = cache;
    this.readAhead = readAhead;
    this.cacheStatistics = cacheStatistics;
    this.statistics = statistics;
  }

  @Override
  public synchronized void seek(long target) throws IOException {
    checkOpen();
    checkNotNegative(target);
    if (target > file.length()) {
      throw new EOFException(
          FSExceptionMessages.CANNOT_SEEK_PAST_EOF + ": " + file.path() + " at " + target);
    }
    if (target != position) {
      counters.incrementAndGet(SEEKS);
      position = target;
    }
  }

  @Override
  public synchronized long getPos() {
    return position;
  }

  /** As HDFS: a seek that goes at most to the end, and -1 for a negative count. */
  @Override
  public synchronized long skip(long count) throws IOException {
    if (count <= 0) {
      return Long.signum(count);
    }
    long step = Math.min(count, file.length() - position);
    seek(position + step);
    return step;
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public synchronized int available() throws IOException {
    checkOpen();
    return (int) Math.min(file.length() - position, Integer.MAX_VALUE);
  }

  @Override
  public synchronized int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public synchronized int read(byte[] target, int offset, int count) throws IOException {
    Objects.checkFromIndexSize(offset, count, target.length);
    return moved(readAt(position, target, offset, count));
  }

  @Override
  public synchronized int read(ByteBuffer target) throws IOException {
    return moved(readAt(position, target));
  }

  private int moved(int count) {
    position += Math.max(count, 0);
    return count;
  }

  @Override
  public int read(long from, byte[] target, int offset, int count) throws IOException {
    validatePositionedReadArgs(from, target, offset, count);
    return readAt(from, target, offset, count);
  }

  @Override
  public int read(long from, ByteBuffer target) throws IOException {
    checkNotNegative(from);
    return readAt(from, target);
  }

  @Override
  public void readFully(long from, ByteBuffer target) throws IOException {
    checkOpen();
    checkNotNegative(from);
    long next = from;
    while (target.hasRemaining()) {
      int count = read(next, target);
      if (count < 0) {
        throw new EOFException(FSExceptionMessages.EOF_IN_READ_FULLY + ": " + file.path());
      }
      next += count;
    }
  }

  /** What a read does with a range of a block, or of the source. */
  private interface Taker {
    void take(Block block, int from, int count);

    void take(SourceFile source, long from, int count) throws IOException;
  }

  private int readAt(long from, byte[] target, int offset, int count) throws IOException {
    return read(
        from,
        count,
        new Taker() {
          @Override
          public void take(Block block, int start, int length) {
            block.copy(start, target, offset, length);
          }

          @Override
          public void take(SourceFile source, long start, int length) throws IOException {
            source.readFully(start, target, offset, length);
          }
        });
  }

  private int readAt(long from, ByteBuffer target) throws IOException {
    return read(
        from,
        target.remaining(),
        new Taker() {
          @Override
          public void take(Block block, int start, int length) {
            block.copy(start, target, length);
          }

          @Override
          public void take(SourceFile source, long start, int length) throws IOException {
            ByteBuffer part = target.slice(target.position(), length);
            source.readFully(start, part);
            target.position(target.position() + length);
          }
        });
  }

  /** Reads what one block has of a range. */
  private int read(long from, int count, Taker taker) throws IOException {
    checkOpen();
    counters.incrementAndGet(OPERATIONS);
    if (count == 0) {
      return 0;
    }
    if (from >= file.length()) {
      return -1;
    }
    long index = file.blockOf(from);
    int start = file.offsetInBlock(from);
    int length = Math.min(count, file.bytesOf(index) - start);
    try {
      Block block = pinned(index);
      if (block == null) {
        cacheStatistics.increment(Counter.FALLBACKS);
        taker.take(file.source(), from, length);
      } else {
        try {
          taker.take(block, start, length);
        } finally {
          block.unpin();
        }
      }
    } catch (IOException e) {
      counters.incrementAndGet(EXCEPTIONS);
      throw e;
    }
    counters.addAndGet(BYTES, length);
    statistics.incrementBytesRead(length);
    return length;
  }

  private Block pinned(long index) throws IOException {
    Used used = last;
    if (used.index == index && used.block != null && used.block.pin()) {
      return used.block;
    }
    if (used.index == index - 1) {
      long end = Math.min(index + readAhead, file.blocks() - 1);
      for (long next = index + 1; next <= end; next++) {
        cache.ahead(file, next);
      }
    }
    Block block = cache.block(file, index);
    last = new Used(index, block);
    return block;
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    readVectored(ranges, allocate, buffer -> {});
  }

  /** Ranges of one block are one read of Crail. The blocks are fetched at the same time. */
  @Override
  public void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    Objects.requireNonNull(allocate, "allocate");
    Objects.requireNonNull(release, "release");
    checkOpen();
    List<? extends FileRange> sorted =
        VectoredReadUtils.validateAndSortRanges(ranges, Optional.of(file.length()));
    counters.incrementAndGet(VECTORED);
    counters.addAndGet(RANGES, sorted.size());
    fetchBlocksOf(sorted);
    for (FileRange range : sorted) {
      ByteBuffer buffer = allocate.apply(range.getLength());
      if (buffer.remaining() < range.getLength()) {
        throw new IllegalArgumentException("no room for " + range + " in " + buffer);
      }
      CompletableFuture<ByteBuffer> data = new CompletableFuture<>();
      range.setData(data);
      read(range, buffer, data, release);
    }
  }

  private void fetchBlocksOf(List<? extends FileRange> sorted) {
    long next = 0;
    boolean first = true;
    for (FileRange range : sorted) {
      long end = range.getOffset() + Math.max(range.getLength(), 1) - 1;
      next = Math.max(next, file.blockOf(range.getOffset()));
      for (; next <= file.blockOf(end) && next < file.blocks(); next++) {
        // This thread fetches the first one.
        if (!first) {
          cache.ahead(file, next);
        }
        first = false;
      }
    }
  }

  private void read(
      FileRange range,
      ByteBuffer buffer,
      CompletableFuture<ByteBuffer> data,
      Consumer<ByteBuffer> release) {
    ByteBuffer target = buffer.slice(buffer.position(), range.getLength());
    try {
      readFully(range.getOffset(), target);
      buffer.limit(buffer.position() + range.getLength());
      data.complete(buffer);
    } catch (IOException | RuntimeException | Error e) {
      try {
        release.accept(buffer);
      } catch (RuntimeException | Error also) {
        e.addSuppressed(also);
      }
      data.completeExceptionally(e);
    }
  }

  @Override
  public void unbuffer() {
    counters.incrementAndGet(UNBUFFERED);
    last = new Used(NONE, null);
    try {
      file.source().release();
    } catch (IOException e) {
      // Of a stream whose bytes were all read.
      counters.incrementAndGet(EXCEPTIONS);
    }
  }

  @Override
  public synchronized void close() throws IOException {
    if (!closed) {
      closed = true;
      last = new Used(NONE, null);
      file.source().close();
    }
  }

  @Override
  public boolean hasCapability(String capability) {
    switch (capability.toLowerCase(Locale.ROOT)) {
      case StreamCapabilities.READBYTEBUFFER:
      case StreamCapabilities.PREADBYTEBUFFER:
      case StreamCapabilities.UNBUFFER:
      case StreamCapabilities.VECTOREDIO:
      case StreamCapabilities.IOSTATISTICS:
        return true;
      default:
        return false;
    }
  }

  @Override
  public IOStatistics getIOStatistics() {
    DynamicIOStatisticsBuilder view = dynamicIOStatistics();
    for (int i = 0; i < COUNTED.size(); i++) {
      int counter = i;
      view.withLongFunctionCounter(COUNTED.get(i), name -> counters.get(counter));
    }
    return view.build();
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new PathIOException(file.path().toString(), FSExceptionMessages.STREAM_IS_CLOSED);
    }
  }

  private void checkNotNegative(long from) throws EOFException {
    if (from < 0) {
      throw new EOFException(
          FSExceptionMessages.NEGATIVE_SEEK + ": " + file.path() + " at " + from);
    }
  }

  @Override
  public String toString() {
    return "cached input stream of " + file.path() + " " + getIOStatistics();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding.iostatisticsStore;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailResult;
import io.crail.memory.OffHeapBuffer;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.VectoredReadUtils;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;

/**
 * Reads a file. Sequential reads go through a stream that reads ahead; reads of a position into
 * direct memory go from the datanode into the caller's buffer, and the ranges of a vectored read
 * are all in flight at the same time. The end is the length that the file had when it was opened.
 *
 * <p>Thread-safe as Hadoop demands it of positioned reads; one thread reads at a time.
 */
final class CrailHadoopInputStream extends FSInputStream
    implements ByteBufferReadable,
        ByteBufferPositionedReadable,
        CanUnbuffer,
        StreamCapabilities,
        IOStatisticsSource {
  private final Path path;
  private final CrailFile file;
  private final long length;
  private final FileSystem.Statistics statistics;
  private final IOStatisticsStore counters =
      iostatisticsStore()
          .withCounters(
              StreamStatisticNames.STREAM_READ_BYTES,
              StreamStatisticNames.STREAM_READ_EXCEPTIONS,
              StreamStatisticNames.STREAM_READ_OPERATIONS,
              StreamStatisticNames.STREAM_READ_SEEK_OPERATIONS,
              StreamStatisticNames.STREAM_READ_UNBUFFERED,
              StreamStatisticNames.STREAM_READ_VECTORED_INCOMING_RANGES,
              StreamStatisticNames.STREAM_READ_VECTORED_OPERATIONS)
          .build();

  /** Where the next sequential read begins. */
  private long position;

  /** Reads ahead; null until it is needed, and after unbuffer. */
  private CrailBufferedInputStream sequential;

  /** Reads of a position; null until it is needed, and after unbuffer. */
  private CrailInputStream positioned;

  private boolean closed;

  CrailHadoopInputStream(Path path, CrailFile file, FileSystem.Statistics statistics) {
    this.path = path;
    this.file = file;
    this.length = file.getCapacity();
    this.statistics = statistics;
  }

  @Override
  public synchronized void seek(long target) throws IOException {
    checkOpen();
    if (target < 0) {
      throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK + ": " + path + " at " + target);
    }
    if (target > length) {
      throw new EOFException(
          FSExceptionMessages.CANNOT_SEEK_PAST_EOF + ": " + path + " at " + target);
    }
    if (target != position) {
      counters.incrementCounter(StreamStatisticNames.STREAM_READ_SEEK_OPERATIONS);
      position = target;
    }
  }

  @Override
  public synchronized long getPos() {
    return position;
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public synchronized int available() throws IOException {
    checkOpen();
    return (int) Math.min(length - position, Integer.MAX_VALUE);
  }

  @Override
  public synchronized int read() throws IOException {
    int value = counted(() -> atPosition().read());
    moved(value < 0 ? 0 : 1);
    return value;
  }

  @Override
  public synchronized int read(byte[] target, int offset, int count) throws IOException {
    Objects.checkFromIndexSize(offset, count, target.length);
    return moved(counted(() -> atPosition().read(target, offset, count)));
  }

  @Override
  public synchronized int read(ByteBuffer target) throws IOException {
    return moved(counted(() -> atPosition().read(target)));
  }

  @Override
  public synchronized int read(long from, byte[] target, int offset, int count) throws IOException {
    checkOpen();
    validatePositionedReadArgs(from, target, offset, count);
    return arrived(counted(() -> sequential().read(from, target, offset, count)));
  }

  @Override
  public synchronized int read(long from, ByteBuffer target) throws IOException {
    checkOpen();
    checkNotNegative(from);
    if (!target.hasRemaining()) {
      return 0;
    }
    if (from >= length) {
      return -1;
    }
    int count = arrived(counted(() -> fill(from, target)));
    target.position(target.position() + count);
    return count;
  }

  /** Fills as much of a buffer as there are bytes for, and leaves its position. */
  private int fill(long from, ByteBuffer target) throws Exception {
    if (target.isDirect()) {
      return (int) issue(from, target.slice()).get().getLen();
    }
    byte[] bytes = new byte[target.remaining()];
    int count = sequential().read(from, bytes, 0, bytes.length);
    target.slice().put(bytes, 0, count);
    return count;
  }

  @Override
  public void readFully(long from, ByteBuffer target) throws IOException {
    long next = from;
    while (target.hasRemaining()) {
      int count = read(next, target);
      if (count < 0) {
        throw new EOFException(FSExceptionMessages.EOF_IN_READ_FULLY + ": " + path);
      }
      next += count;
    }
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    readVectored(ranges, allocate, buffer -> {});
  }

  @Override
  public synchronized void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    checkOpen();
    Objects.requireNonNull(allocate, "allocate");
    Objects.requireNonNull(release, "release");
    List<? extends FileRange> sorted =
        VectoredReadUtils.validateAndSortRanges(ranges, Optional.of(length));
    counters.incrementCounter(StreamStatisticNames.STREAM_READ_VECTORED_OPERATIONS);
    counters.incrementCounter(
        StreamStatisticNames.STREAM_READ_VECTORED_INCOMING_RANGES, sorted.size());
    List<RangeRead> reads = new ArrayList<>(sorted.size());
    for (FileRange range : sorted) {
      reads.add(RangeRead.begin(this, range, allocate));
    }
    for (RangeRead read : reads) {
      read.end(release);
    }
  }

  /** The read of a range, under way. */
  private static final class RangeRead {
    private final CrailHadoopInputStream stream;
    private final FileRange range;
    private final ByteBuffer buffer;
    private final CompletableFuture<ByteBuffer> data = new CompletableFuture<>();
    private Future<CrailResult> direct;
    private IOException failure;

    private RangeRead(CrailHadoopInputStream stream, FileRange range, ByteBuffer buffer) {
      this.stream = stream;
      this.range = range;
      this.buffer = buffer;
      range.setData(data);
    }

    /** Issues the read; into memory of the heap it takes place with {@link #end}. */
    static RangeRead begin(
        CrailHadoopInputStream stream, FileRange range, IntFunction<ByteBuffer> allocate) {
      RangeRead read = new RangeRead(stream, range, allocate.apply(range.getLength()));
      if (read.buffer.isDirect()) {
        try {
          read.direct =
              HadoopErrors.translate(
                  stream.path, () -> stream.issue(range.getOffset(), read.target()));
        } catch (IOException e) {
          read.failure = e;
        }
      }
      return read;
    }

    /** The first bytes of the buffer, as many as are asked for. */
    private ByteBuffer target() {
      return buffer.slice().limit(range.getLength());
    }

    /** Waits for the bytes, and tells whoever waits for the range. */
    void end(Consumer<ByteBuffer> release) {
      try {
        if (failure != null) {
          throw failure;
        }
        int count =
            stream.arrived(
                stream.counted(
                    () ->
                        direct != null
                            ? (int) direct.get().getLen()
                            : stream.fill(range.getOffset(), target())));
        if (count < range.getLength()) {
          throw new EOFException(FSExceptionMessages.EOF_IN_READ_FULLY + ": " + stream.path);
        }
        data.complete(buffer.limit(buffer.position() + range.getLength()));
      } catch (IOException e) {
        release.accept(buffer);
        data.completeExceptionally(e);
      }
    }
  }

  /** Issues a read into direct memory, which belongs to it until it ends. */
  private Future<CrailResult> issue(long from, ByteBuffer target) throws Exception {
    if (positioned == null) {
      positioned = file.getDirectInputStream(0);
    }
    positioned.seek(from);
    return positioned.read(OffHeapBuffer.wrap(target));
  }

  /** The stream that reads ahead. */
  private CrailBufferedInputStream sequential() throws Exception {
    if (sequential == null) {
      sequential = file.getBufferedInputStream(length);
    }
    return sequential;
  }

  /** The stream that reads ahead, at the present position. */
  private CrailBufferedInputStream atPosition() throws Exception {
    checkOpen();
    CrailBufferedInputStream stream = sequential();
    if (stream.position() != position) {
      stream.seek(position);
    }
    return stream;
  }

  private int counted(HadoopErrors.Step<Integer> read) throws IOException {
    counters.incrementCounter(StreamStatisticNames.STREAM_READ_OPERATIONS);
    statistics.incrementReadOps(1);
    try {
      return HadoopErrors.translate(path, read);
    } catch (IOException e) {
      counters.incrementCounter(StreamStatisticNames.STREAM_READ_EXCEPTIONS);
      throw e;
    }
  }

  private int moved(int count) {
    position += Math.max(count, 0);
    return arrived(count);
  }

  private int arrived(int count) {
    if (count > 0) {
      counters.incrementCounter(StreamStatisticNames.STREAM_READ_BYTES, count);
      statistics.incrementBytesRead(count);
    }
    return count;
  }

  @Override
  public synchronized void unbuffer() {
    counters.incrementCounter(StreamStatisticNames.STREAM_READ_UNBUFFERED);
    try {
      release();
    } catch (IOException e) {
      // Nobody asked these reads for anything any more.
      counters.incrementCounter(StreamStatisticNames.STREAM_READ_EXCEPTIONS);
    }
  }

  @Override
  public synchronized void close() throws IOException {
    if (!closed) {
      closed = true;
      release();
    }
  }

  /** Gives the memory and the connections' slots back. */
  private void release() throws IOException {
    CrailBufferedInputStream ahead = sequential;
    CrailInputStream direct = positioned;
    sequential = null;
    positioned = null;
    HadoopErrors.translate(
        path,
        () -> {
          try {
            if (ahead != null) {
              ahead.close();
            }
          } finally {
            if (direct != null) {
              direct.close();
            }
          }
          return null;
        });
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
    return counters;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw HadoopErrors.streamClosed(path);
    }
  }

  private void checkNotNegative(long from) throws EOFException {
    if (from < 0) {
      throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK + ": " + path + " at " + from);
    }
  }

  @Override
  public String toString() {
    return "input stream of " + path + " " + counters;
  }
}

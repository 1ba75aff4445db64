/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding.iostatisticsStore;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.range.PositionedReader;
import io.crail.range.RangeReader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
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
 * Reads a file. Sequential reads go through a stream that reads ahead. Positioned reads into direct
 * memory go from the datanode into the caller's buffer. The ranges of a vectored read are in flight
 * at the same time. The file ends at the length that it had when it was opened.
 *
 * <p>Thread-safe. Sequential reads take turns; positioned reads do not wait for other reads.
 */
final class CrailHadoopInputStream extends FSInputStream
    implements ByteBufferReadable,
        ByteBufferPositionedReadable,
        CanUnbuffer,
        StreamCapabilities,
        IOStatisticsSource {
  /** Most idle readers of positions that are kept. */
  private static final int MAX_IDLE = 8;

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

  // Looked up once, since each read counts in them.
  private final AtomicLong operations =
      counters.getCounterReference(StreamStatisticNames.STREAM_READ_OPERATIONS);
  private final AtomicLong bytesRead =
      counters.getCounterReference(StreamStatisticNames.STREAM_READ_BYTES);

  /** Idle readers of positions. The monitor of this is held no longer than for a push. */
  private final Deque<PositionedReader> idle = new ArrayDeque<>();

  /** Where the next sequential read begins. */
  private long position;

  /** Reads ahead; null until it is needed, and after unbuffer. */
  private CrailBufferedInputStream sequential;

  private volatile boolean closed;

  CrailHadoopInputStream(Path path, CrailFile file, FileSystem.Statistics statistics) {
    this.path = path;
    this.file = file;
    this.length = file.getCapacity();
    this.statistics = statistics;
  }

  @Override
  public synchronized void seek(long target) throws IOException {
    checkOpen();
    checkNotNegative(target);
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

  /** As HDFS: a seek that goes at most to the end, and -1 for a negative count. */
  @Override
  public synchronized long skip(long count) throws IOException {
    if (count <= 0) {
      return Long.signum(count);
    }
    long step = Math.min(count, length - position);
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
    return (int) Math.min(length - position, Integer.MAX_VALUE);
  }

  @Override
  public synchronized int read() throws IOException {
    operations.incrementAndGet();
    try {
      int value = atPosition().read();
      moved(value < 0 ? -1 : 1);
      return value;
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public synchronized int read(byte[] target, int offset, int count) throws IOException {
    Objects.checkFromIndexSize(offset, count, target.length);
    operations.incrementAndGet();
    try {
      return moved(atPosition().read(target, offset, count));
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public synchronized int read(ByteBuffer target) throws IOException {
    operations.incrementAndGet();
    try {
      return moved(atPosition().read(target));
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** The stream that reads ahead, at the present position. */
  private CrailBufferedInputStream atPosition() throws IOException {
    checkOpen();
    if (sequential == null) {
      sequential = HadoopErrors.translate(path, () -> file.getBufferedInputStream(length));
    }
    if (sequential.position() != position) {
      sequential.seek(position);
    }
    return sequential;
  }

  private int moved(int count) {
    position += Math.max(count, 0);
    return counted(count);
  }

  @Override
  public int read(long from, byte[] target, int offset, int count) throws IOException {
    validatePositionedReadArgs(from, target, offset, count);
    return count == 0 ? 0 : positioned(from, reader -> reader.read(from, target, offset, count));
  }

  @Override
  public int read(long from, ByteBuffer target) throws IOException {
    checkNotNegative(from);
    if (!target.hasRemaining()) {
      return 0;
    }
    int count = positioned(from, reader -> reader.read(from, target));
    target.position(target.position() + Math.max(count, 0));
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

  /** A positioned read. */
  @FunctionalInterface
  private interface PositionedRead {
    int by(PositionedReader reader) throws Exception;
  }

  private int positioned(long from, PositionedRead read) throws IOException {
    PositionedReader reader = take();
    operations.incrementAndGet();
    try {
      return from >= length ? -1 : counted(HadoopErrors.translate(path, () -> read.by(reader)));
    } catch (IOException e) {
      throw failed(e);
    } finally {
      giveBack(reader);
    }
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    readVectored(ranges, allocate, buffer -> {});
  }

  @Override
  public void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    Objects.requireNonNull(allocate, "allocate");
    Objects.requireNonNull(release, "release");
    List<? extends FileRange> sorted =
        VectoredReadUtils.validateAndSortRanges(ranges, Optional.of(length));
    counters.incrementCounter(StreamStatisticNames.STREAM_READ_VECTORED_OPERATIONS);
    counters.incrementCounter(
        StreamStatisticNames.STREAM_READ_VECTORED_INCOMING_RANGES, sorted.size());
    PositionedReader reader = take();
    try {
      RangeReader ranged = new RangeReader(file.getFileSystem(), minSeekForVectorReads());
      new VectoredRead(path, reader, ranged, release, this::ended).read(sorted, allocate);
    } finally {
      giveBack(reader);
    }
  }

  private void ended(int count) {
    operations.incrementAndGet();
    if (count < 0) {
      counters.incrementCounter(StreamStatisticNames.STREAM_READ_EXCEPTIONS);
    }
    counted(count);
  }

  private PositionedReader take() throws IOException {
    synchronized (idle) {
      checkOpen();
      PositionedReader reader = idle.poll();
      return reader != null ? reader : new PositionedReader(file);
    }
  }

  private void giveBack(PositionedReader reader) throws IOException {
    synchronized (idle) {
      if (!closed && idle.size() < MAX_IDLE) {
        idle.push(reader);
        return;
      }
    }
    close(reader);
  }

  private void close(PositionedReader reader) throws IOException {
    HadoopErrors.translate(
        path,
        () -> {
          reader.close();
          return null;
        });
  }

  private int counted(int count) {
    if (count > 0) {
      bytesRead.addAndGet(count);
      statistics.incrementBytesRead(count);
    }
    return count;
  }

  private IOException failed(IOException error) {
    counters.incrementCounter(StreamStatisticNames.STREAM_READ_EXCEPTIONS);
    return HadoopErrors.translated(path, error);
  }

  @Override
  public synchronized void unbuffer() {
    counters.incrementCounter(StreamStatisticNames.STREAM_READ_UNBUFFERED);
    try {
      release();
    } catch (IOException e) {
      // A read ahead has failed, whose bytes the program has not asked for.
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

  /** Gives back the memory and the readers that are not in use. */
  private void release() throws IOException {
    List<PositionedReader> unused;
    synchronized (idle) {
      unused = new ArrayList<>(idle);
      idle.clear();
    }
    CrailBufferedInputStream ahead = sequential;
    sequential = null;
    try {
      if (ahead != null) {
        ahead.close();
      }
    } catch (IOException e) {
      throw HadoopErrors.translated(path, e);
    } finally {
      for (PositionedReader reader : unused) {
        close(reader);
      }
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

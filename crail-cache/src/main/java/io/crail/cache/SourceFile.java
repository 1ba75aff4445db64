/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.cache.CacheStatistics.Counter;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;

/**
 * A file at its source. Reads at the same time have streams of their own. After a stream is opened,
 * the source is asked whether the file is still the one of the record. So bytes of another file are
 * never taken for its. Thread-safe.
 */
final class SourceFile implements Closeable {
  /** Most idle streams that are kept. */
  private static final int MAX_IDLE = 4;

  private static final int CHUNK_BYTES = 128 << 10;

  private final FileSystem source;
  private final Path path;
  private final StatusRecord record;
  private final Runnable changed;
  private final CacheStatistics statistics;

  /** Guarded by itself. */
  private final Deque<FSDataInputStream> idle = new ArrayDeque<>();

  /** Guarded by idle. */
  private boolean closed;

  /**
   * Creates it; nothing is opened.
   *
   * @param changed is run when the file is not the one of the record
   */
  SourceFile(
      FileSystem source,
      Path path,
      StatusRecord record,
      Runnable changed,
      CacheStatistics statistics) {
    this.source = source;
    this.path = path;
    this.record = record;
    this.changed = changed;
    this.statistics = statistics;
  }

  /** A read of a stream at its position. */
  @FunctionalInterface
  private interface Read {
    int from(FSDataInputStream stream) throws IOException;
  }

  /** Reads until the buffer is full. */
  void readFully(long position, ByteBuffer target) throws IOException {
    read(
        position,
        stream -> {
          byte[] chunk = new byte[Math.min(CHUNK_BYTES, target.remaining())];
          int total = 0;
          while (target.hasRemaining()) {
            int count = Math.min(chunk.length, target.remaining());
            stream.readFully(chunk, 0, count);
            target.put(chunk, 0, count);
            total += count;
          }
          return total;
        });
  }

  /** Reads until all is there. */
  void readFully(long position, byte[] target, int offset, int length) throws IOException {
    read(
        position,
        stream -> {
          stream.readFully(target, offset, length);
          return length;
        });
  }

  private void read(long position, Read read) throws IOException {
    FSDataInputStream stream = take(position);
    boolean whole = false;
    try {
      if (stream.getPos() != position) {
        stream.seek(position);
      }
      statistics.add(Counter.SOURCE_BYTES, read.from(stream));
      whole = true;
    } catch (EOFException e) {
      throw isAnother(e);
    } finally {
      if (whole) {
        giveBack(stream);
      } else {
        stream.close();
      }
    }
  }

  private SourceChangedException isAnother(Exception cause) {
    changed.run();
    SourceChangedException error =
        new SourceChangedException(path + " was changed since it was opened");
    error.initCause(cause);
    return error;
  }

  /** A stream, if possible one that is there already. */
  private FSDataInputStream take(long position) throws IOException {
    synchronized (idle) {
      if (closed) {
        throw new PathIOException(path.toString(), FSExceptionMessages.STREAM_IS_CLOSED);
      }
      for (FSDataInputStream stream : idle) {
        if (stream.getPos() == position) {
          idle.remove(stream);
          return stream;
        }
      }
      FSDataInputStream stream = idle.poll();
      if (stream != null) {
        return stream;
      }
    }
    return open();
  }

  private FSDataInputStream open() throws IOException {
    FSDataInputStream stream;
    try {
      stream = source.open(path);
    } catch (FileNotFoundException e) {
      changed.run();
      throw e;
    }
    boolean same = false;
    try {
      same = record.hasContentOf(source.getFileStatus(path));
    } finally {
      if (!same) {
        stream.close();
      }
    }
    if (!same) {
      throw isAnother(null);
    }
    return stream;
  }

  private void giveBack(FSDataInputStream stream) throws IOException {
    synchronized (idle) {
      if (!closed && idle.size() < MAX_IDLE) {
        idle.push(stream);
        return;
      }
    }
    stream.close();
  }

  /** Closes the streams that are not in use. */
  void release() throws IOException {
    IOException failure = null;
    while (true) {
      FSDataInputStream stream;
      synchronized (idle) {
        stream = idle.poll();
      }
      if (stream == null) {
        break;
      }
      try {
        stream.close();
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (idle) {
      closed = true;
    }
    release();
  }
}

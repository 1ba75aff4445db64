/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.cache.CacheStatistics.Counter;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;

/**
 * A file at its source. Reads at the same time have streams of their own, of which one is kept.
 * After bytes were read, and before anyone gets them, the source is asked whether the file is still
 * the one of the record, and Crail whether that is still the record. So bytes of another file are
 * never taken for its. Thread-safe.
 */
final class SourceFile implements Closeable {
  private static final int CHUNK_BYTES = 128 << 10;

  private final FileSystem source;
  private final Path path;
  private final StatusRecord record;
  private final Runnable changed;
  private final Supplier<Standing> standing;
  private final CacheStatistics statistics;

  /** A stream that is not in use; null for none. Guarded by this. */
  private FSDataInputStream idle;

  /** Guarded by this. */
  private boolean closed;

  /** What has become of a record. */
  enum Standing {
    /** It is in Crail, or one that has taken its place and has the same blocks. */
    SAME,
    /** It is not in Crail, or this is not known. */
    GONE,
    /** Another one is in its place, since the file was changed. */
    REPLACED
  }

  /**
   * Creates it; nothing is opened.
   *
   * @param changed is run when the file is not the one of the record
   * @param standing asks what has become of the record
   */
  SourceFile(
      FileSystem source,
      Path path,
      StatusRecord record,
      Runnable changed,
      Supplier<Standing> standing,
      CacheStatistics statistics) {
    this.source = source;
    this.path = path;
    this.record = record;
    this.changed = changed;
    this.standing = standing;
    this.statistics = statistics;
  }

  /** A read of a stream at its position. */
  @FunctionalInterface
  private interface Read {
    int from(FSDataInputStream stream) throws IOException;
  }

  /**
   * Reads until the buffer is full.
   *
   * @return whether the record is known to be in Crail, so that the bytes may be put
   */
  boolean readFully(long position, ByteBuffer target) throws IOException {
    return read(
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

  /** Reads until all is there; returns as the other one. */
  boolean readFully(long position, byte[] target, int offset, int length) throws IOException {
    return read(
        position,
        stream -> {
          stream.readFully(target, offset, length);
          return length;
        });
  }

  private boolean read(long position, Read read) throws IOException {
    FSDataInputStream stream = take();
    boolean whole = false;
    try {
      if (stream.getPos() != position) {
        stream.seek(position);
      }
      statistics.add(Counter.SOURCE_BYTES, read.from(stream));
      boolean known = check();
      whole = true;
      return known;
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

  /** Checks that bytes which were just read are of the record; as the reads return. */
  private boolean check() throws IOException {
    FileStatus present;
    try {
      present = source.getFileStatus(path);
    } catch (FileNotFoundException e) {
      changed.run();
      throw e;
    }
    if (!record.hasContentOf(present)) {
      throw isAnother(null);
    }
    // A change through the cache may leave length and time as they were.
    Standing now = standing.get();
    if (now == Standing.REPLACED) {
      throw another(null);
    }
    return now == Standing.SAME;
  }

  private SourceChangedException isAnother(Exception cause) {
    changed.run();
    return another(cause);
  }

  private SourceChangedException another(Exception cause) {
    SourceChangedException error =
        new SourceChangedException(path + " was changed since it was opened");
    error.initCause(cause);
    return error;
  }

  /** A stream, if possible the one that is there already. */
  private FSDataInputStream take() throws IOException {
    synchronized (this) {
      if (closed) {
        throw new PathIOException(path.toString(), FSExceptionMessages.STREAM_IS_CLOSED);
      }
      FSDataInputStream stream = idle;
      idle = null;
      if (stream != null) {
        return stream;
      }
    }
    try {
      return source.open(path);
    } catch (FileNotFoundException e) {
      changed.run();
      throw e;
    }
  }

  private void giveBack(FSDataInputStream stream) throws IOException {
    synchronized (this) {
      if (!closed && idle == null) {
        idle = stream;
        return;
      }
    }
    stream.close();
  }

  /** Closes the stream that is not in use. */
  void release() throws IOException {
    FSDataInputStream stream;
    synchronized (this) {
      stream = idle;
      idle = null;
    }
    if (stream != null) {
      stream.close();
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (this) {
      closed = true;
    }
    release();
  }
}

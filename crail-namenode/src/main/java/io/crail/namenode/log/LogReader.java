/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.error.CrailException;
import io.crail.namenode.log.LogDirectory.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a log. A frame that is not whole ends a segment: as a rule it was being written when the
 * namenode ended, and nothing that it holds was acknowledged. But if any later frame says that it
 * was durable, or the next segment does not go on with the next record, the log is damaged.
 */
public final class LogReader {
  /** Receives what a log holds, in order. */
  public interface Visitor {
    /**
     * The records that follow were written at this time.
     *
     * @param millis milliseconds since 1970
     * @param nanos time in which the namenode ran, over all its starts
     */
    void written(long millis, long nanos);

    /**
     * A record.
     *
     * @param number its number
     * @param kind see {@link ChangeLog}
     */
    void record(long number, int kind, ByteBuffer bytes, int offset, int length)
        throws CrailException, IOException;
  }

  private static final ByteBuffer ZEROS = ByteBuffer.allocate(LogFrame.PAGE).asReadOnlyBuffer();

  private final LogDirectory directory;
  private final Visitor visitor;

  /** The bytes of a file; those of the next one are read into the same memory. */
  private ByteBuffer memory = ByteBuffer.allocate(0);

  private final List<String> unused = new ArrayList<>();
  private long last;
  private long nanos;
  private long lastSegment;
  private long tornBytes;
  private long bytes;

  private LogReader(LogDirectory directory, Visitor visitor) {
    this.directory = directory;
    this.visitor = visitor;
  }

  /**
   * Reads all that was written.
   *
   * @return what was read
   * @throws LogDamage when the log is damaged
   * @throws CrailException that the visitor throws
   */
  public static LogReader read(LogDirectory directory, Visitor visitor)
      throws CrailException, IOException {
    return read(directory, 0, 0, 0, visitor);
  }

  /**
   * Reads all that follows on a snapshot, as the other method does.
   *
   * @param covered the number of the last file that it covers
   * @param after the number of the last record that is in it
   * @param nanos the time in which the namenode had run then
   */
  public static LogReader read(
      LogDirectory directory, long covered, long after, long nanos, Visitor visitor)
      throws CrailException, IOException {
    return read(directory, covered, after, nanos, Long.MAX_VALUE, visitor);
  }

  /** As the other method, where the files behind a number are not looked at. */
  static LogReader read(
      LogDirectory directory, long covered, long after, long nanos, long upTo, Visitor visitor)
      throws CrailException, IOException {
    LogReader reader = new LogReader(directory, visitor);
    reader.last = after;
    reader.nanos = nanos;
    List<String> segments = directory.names().stream().filter(LogSegment::isName).sorted().toList();
    reader.lastSegment = covered;
    for (String name : segments) {
      if (LogSegment.of(name) > covered && LogSegment.of(name) <= upTo) {
        reader.readSegment(name);
      }
    }
    return reader;
  }

  /** The number of the last record; 0 if there is none. */
  public long last() {
    return last;
  }

  /** The files without a whole frame. */
  List<String> unused() {
    return unused;
  }

  /** The number of the last segment; 0 if there is none. */
  public long lastSegment() {
    return lastSegment;
  }

  /** The time in which the namenode ran when the last frame was written. */
  public long nanos() {
    return nanos;
  }

  /** Bytes of frames that were not whole. */
  public long tornBytes() {
    return tornBytes;
  }

  /** Bytes of the frames that were read. */
  public long bytes() {
    return bytes;
  }

  private void readSegment(String name) throws CrailException, IOException {
    long segment = LogSegment.of(name);
    lastSegment = segment;
    try (LogFile file = directory.open(name)) {
      ByteBuffer content = read(file);
      int at = 0;
      if (content.capacity() == 0 || frameAt(content, 0, segment) == null) {
        unused.add(name);
      }
      while (at < content.capacity()) {
        LogFrame.Header header = frameAt(content, at, segment);
        if (header == null) {
          checkTail(name, content, at, segment);
          return;
        }
        if (header.first() != last + 1) {
          throw new LogDamage(
              name + " at byte " + at + ": record " + header.first() + " follows " + last);
        }
        visit(name, at, content.slice(at, header.padded()).order(ByteOrder.LITTLE_ENDIAN), header);
        at += header.padded();
        bytes += header.padded();
      }
    }
  }

  private ByteBuffer read(LogFile file) throws IOException {
    int length = Math.toIntExact(file.length() / LogFrame.PAGE * LogFrame.PAGE);
    if (memory.capacity() < length) {
      memory = ByteBuffer.allocate(length);
    }
    ByteBuffer bytes = memory.slice(0, length);
    file.read(bytes, 0);
    return bytes.clear().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The whole frame at a place of a segment; null if there is none. */
  private static LogFrame.Header frameAt(ByteBuffer bytes, int at, long segment) {
    ByteBuffer rest = bytes.slice(at, bytes.capacity() - at).order(ByteOrder.LITTLE_ENDIAN);
    LogFrame.Header header = LogFrame.read(rest, rest.capacity());
    boolean isOne = header != null && header.segment() == segment && LogFrame.isWhole(rest, header);
    return isOne ? header : null;
  }

  private void checkTail(String name, ByteBuffer bytes, int at, long segment) throws LogDamage {
    int torn = at;
    for (int page = at; page < bytes.capacity(); page += LogFrame.PAGE) {
      boolean mayBeOne = bytes.getInt(page) == LogFrame.MAGIC;
      LogFrame.Header later = mayBeOne ? frameAt(bytes, page, segment) : null;
      if (later != null && later.durable() > last) {
        throw new LogDamage(
            name
                + " at byte "
                + at
                + ": no whole frame, but record "
                + (last + 1)
                + " was durable, as the frame at byte "
                + page
                + " says");
      }
      if (!isZero(bytes, page)) {
        torn = page + LogFrame.PAGE;
      }
    }
    tornBytes += torn - at;
  }

  private static boolean isZero(ByteBuffer bytes, int page) {
    return bytes.slice(page, LogFrame.PAGE).mismatch(ZEROS.duplicate()) < 0;
  }

  private void visit(String name, int at, ByteBuffer frame, LogFrame.Header header)
      throws CrailException, IOException {
    nanos = header.nanos();
    visitor.written(header.millis(), header.nanos());
    int offset = LogFrame.HEADER;
    int end = offset + header.length();
    for (int i = 0; i < header.count(); i++) {
      int length = end - offset < LogFrame.OF_RECORD ? -1 : frame.getInt(offset);
      if (length < 0 || length > end - offset - LogFrame.OF_RECORD) {
        throw new LogDamage(name + " at byte " + at + ": a frame with wrong lengths");
      }
      int kind = frame.get(offset + Integer.BYTES) & 0xff;
      visitor.record(last + 1, kind, frame, offset + LogFrame.OF_RECORD, length);
      last++;
      offset += LogFrame.OF_RECORD + length;
    }
  }
}

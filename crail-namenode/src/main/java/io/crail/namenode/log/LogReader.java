/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.error.CrailException;
import io.crail.namenode.log.LogDirectory.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
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

    /** The records that follow are in a frame at this place of a file. */
    default void frame(String file, long at, int bytes) {}

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

  private final LogWindow window = new LogWindow();
  private final RecordPacking packing = new RecordPacking();
  private final List<String> unused = new ArrayList<>();
  private long last;
  private long nanos;
  private long lastSegment;
  private long tornBytes;
  private long bytes;
  private boolean isClosed;

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

  /** Reads one file, whose records follow on another one. */
  static LogReader readFile(LogDirectory directory, String name, long after, Visitor visitor)
      throws CrailException, IOException {
    LogReader reader = new LogReader(directory, visitor);
    reader.last = after;
    reader.readSegment(name);
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

  /** Whether it ends as a log does that was closed when all of it was durable. */
  public boolean isClosed() {
    return isClosed;
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
      window.open(file);
      int at = 0;
      if (window.length() == 0 || frameAt(0, segment) == null) {
        unused.add(name);
      }
      while (at < window.length()) {
        LogFrame.Header header = frameAt(at, segment);
        if (header == null) {
          checkTail(name, at, segment);
          return;
        }
        if (header.first() != last + 1) {
          throw new LogDamage(
              name + " at byte " + at + ": record " + header.first() + " follows " + last);
        }
        visit(name, at, window.at(at, header.padded()), header);
        at += header.padded();
        bytes += header.padded();
      }
    }
  }

  /** The whole frame at a place of a segment; null if there is none. */
  private LogFrame.Header frameAt(int at, long segment) throws IOException {
    LogFrame.Header header = LogFrame.read(window.at(at, LogFrame.PAGE), window.length() - at);
    boolean isOne = header != null && header.segment() == segment;
    return isOne && LogFrame.isWhole(window.at(at, header.padded()), header) ? header : null;
  }

  private void checkTail(String name, int at, long segment) throws IOException {
    int torn = at;
    for (int page = at; page < window.length(); page += LogFrame.PAGE) {
      ByteBuffer bytes = window.at(page, LogFrame.PAGE);
      if (bytes.mismatch(ZEROS.duplicate()) < 0) {
        continue;
      }
      torn = page + LogFrame.PAGE;
      LogFrame.Header later = bytes.getInt(0) == LogFrame.MAGIC ? frameAt(page, segment) : null;
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
    }
    tornBytes += torn - at;
  }

  private void visit(String name, int at, ByteBuffer frame, LogFrame.Header header)
      throws CrailException, IOException {
    nanos = header.nanos();
    isClosed = header.count() == 0;
    visitor.frame(name, at, header.padded());
    visitor.written(header.millis(), header.nanos());
    packing.begin();
    int offset = LogFrame.HEADER;
    int end = offset + header.length();
    for (int i = 0; i < header.count(); i++) {
      int room = end - offset - LogFrame.OF_RECORD;
      int length = room < 0 ? 0 : frame.getInt(offset);
      int kind = room < 0 ? 0 : frame.get(offset + Integer.BYTES) & 0xff;
      boolean isPacked = (length & RecordPacking.PACKED) != 0;
      length &= ~RecordPacking.PACKED;
      offset += LogFrame.OF_RECORD;
      int next = isPacked ? packing.unpack(frame, offset, end, length) : offset + length;
      if (next < offset || next > end) {
        throw new LogDamage(name + " at byte " + at + ": a frame with wrong lengths");
      }
      visitor.record(
          last + 1, kind, isPacked ? packing.bytes() : frame, isPacked ? 0 : offset, length);
      last++;
      offset = next;
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.error.CrailException;
import io.crail.namenode.log.LogDirectory.LogFile;
import io.crail.protocol.codec.SmallValue;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the directory of a log holds, found by reading all of it, and changing nothing. A namenode
 * may write there meanwhile; then this is what there was at some moment. Immutable, once made.
 */
public final class LogSurvey {
  /** What a file of the log is for. */
  public enum Use {
    /** The next start reads it. */
    READ,
    /** The snapshot has all of it. The next start removes it. */
    COVERED,
    /** It was made ahead, and has no record. The next start makes it anew. */
    AHEAD
  }

  /**
   * A file of the log. Times are in milliseconds since 1970; they and numbers are 0 if the file has
   * no record.
   *
   * @param bytes its length
   * @param first number of its first record
   * @param last number of its last record before any damage
   * @param frames how many writes it holds
   * @param usedBytes bytes of whole frames
   * @param tornBytes bytes behind them of a write that did not end
   * @param lastSeen number of the last record in it, also behind damage
   * @param damage what is wrong, with file and byte; empty for nothing
   */
  public record Part(
      String file,
      Use use,
      long bytes,
      long first,
      long last,
      long frames,
      long usedBytes,
      long tornBytes,
      long firstMillis,
      long lastMillis,
      long lastSeen,
      String damage) {}

  /**
   * A snapshot.
   *
   * @param position number of the last record that is in it
   * @param records how many records it has itself
   * @param bytes of all its files
   * @param isWhole whether it was written to its end
   * @param isRead whether the next start begins with it
   * @param writtenMillis when it was written, in milliseconds since 1970; 0 if that is not known
   * @param damage what is wrong, with file and byte; empty for nothing
   */
  public record Snapshot(
      long position,
      long records,
      long bytes,
      boolean isWhole,
      boolean isRead,
      long writtenMillis,
      String damage) {}

  /** A namenode may write or remove what is just read. */
  private static final int ATTEMPTS = 3;

  private final LogDirectory directory;
  private final List<Part> parts = new ArrayList<>();
  private final List<Snapshot> snapshots = new ArrayList<>();
  private final List<String> others = new ArrayList<>();
  private SmallValue lineage = SmallValue.NONE;
  private long begin;
  private long last;
  private long lastSeen;
  private String damage = "";

  private LogSurvey(LogDirectory directory) {
    this.directory = directory;
  }

  /** Reads all of a directory. */
  public static LogSurvey of(LogDirectory directory) throws IOException {
    return of(directory, Long.MAX_VALUE);
  }

  /**
   * Reads all of a directory, as if there were no snapshots that were made later.
   *
   * @param most number of the last record that a snapshot may have
   */
  static LogSurvey of(LogDirectory directory, long most) throws IOException {
    for (int attempt = 1; ; attempt++) {
      LogSurvey survey = new LogSurvey(directory);
      try {
        survey.read(most);
        if (survey.damage.isEmpty() || attempt == ATTEMPTS) {
          return survey;
        }
      } catch (NoSuchFileException e) {
        if (attempt == ATTEMPTS) {
          throw e;
        }
      } catch (CrailException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
  }

  /** The number of the first record in a file of the log; 0 if it does not begin with a frame. */
  static long firstIn(LogDirectory directory, String name) throws IOException {
    try (LogFile file = directory.open(name)) {
      LogFrame.Header header = headerAt(file, 0);
      return header == null || header.segment() != LogSegment.of(name) ? 0 : header.first();
    }
  }

  /** The files of the log, in their order. */
  static List<String> segments(LogDirectory directory) throws IOException {
    return directory.names().stream().filter(LogSegment::isName).sorted().toList();
  }

  private static LogFrame.Header headerAt(LogFile file, long at) throws IOException {
    if (file.length() - at < LogFrame.PAGE) {
      return null;
    }
    ByteBuffer page = ByteBuffer.allocate(LogFrame.PAGE);
    file.read(page, at);
    return LogFrame.read(page.clear(), file.length() - at);
  }

  /** The files of the log. */
  public List<Part> parts() {
    return parts;
  }

  /** The snapshots, also parts of those that were not written to their ends. */
  public List<Snapshot> snapshots() {
    return snapshots;
  }

  /** The names of files that a namenode does not read. */
  public List<String> others() {
    return others;
  }

  /** The record that says whose log this is; without bytes if that is lost, or there is no log. */
  public SmallValue lineage() {
    return lineage;
  }

  /**
   * The number of the last record that is in the snapshot with which a start begins; 0 for none.
   */
  public long begin() {
    return begin;
  }

  /** The number of the last record that a start reads; before the damage, if there is any. */
  public long last() {
    return last;
  }

  /** The greatest number of a record that is somewhere, also behind damage. */
  public long lastSeen() {
    return lastSeen;
  }

  /** Why the next start fails, with file and byte; empty if nothing is damaged. */
  public String damage() {
    return damage;
  }

  /** Whether the snapshot is what is damaged, with which the next start begins. */
  public boolean isSnapshotDamaged() {
    return snapshots.stream().anyMatch(each -> each.isRead() && !each.damage().isEmpty());
  }

  private void read(long most) throws CrailException, IOException {
    long covered = readSnapshots(most);
    last = begin;
    boolean goesOn = damage.isEmpty();
    for (String name : segments(directory)) {
      boolean isCovered = LogSegment.of(name) <= covered;
      long first = firstIn(directory, name);
      boolean follows = goesOn && !isCovered;
      Part part = part(name, isCovered, follows ? last : Math.max(0, first - 1));
      parts.add(part);
      lastSeen = Math.max(lastSeen, part.lastSeen());
      if (follows) {
        last = Math.max(last, part.last());
        damage = part.damage();
        goesOn = damage.isEmpty();
      }
    }
    lastSeen = Math.max(lastSeen, last);
    for (String name : directory.names()) {
      if (!LogSegment.isName(name) && !name.startsWith(Snapshots.BEGIN)) {
        others.add(name);
      }
    }
  }

  /** Reads all snapshots. Returns the last file of the log that the newest one covers. */
  private long readSnapshots(long most) throws CrailException, IOException {
    TreeMap<String, Long> bytes = new TreeMap<>();
    List<String> names = directory.names();
    for (String name : names) {
      if (name.startsWith(Snapshots.BEGIN)) {
        try (LogFile file = directory.open(name)) {
          bytes.merge(Snapshots.stemOf(name), file.length(), Long::sum);
        }
      }
    }
    String newest = new Snapshots(directory, most).stem();
    long covered = 0;
    for (Map.Entry<String, Long> each : bytes.entrySet()) {
      String stem = each.getKey();
      long at = Snapshots.positionOf(stem);
      boolean isRead = stem.equals(newest);
      if (!names.contains(stem + Snapshots.WHOLE)) {
        snapshots.add(new Snapshot(at, 0, each.getValue(), false, false, 0, ""));
        continue;
      }
      Counter counter = new Counter();
      Snapshots one = new Snapshots(directory, at);
      String wrong = "";
      try {
        one.read(counter);
      } catch (LogDamage e) {
        wrong = e.getMessage();
      }
      snapshots.add(
          new Snapshot(
              at, counter.records, each.getValue(), true, isRead, counter.lastMillis, wrong));
      if (isRead) {
        begin = at;
        lastSeen = at;
        damage = wrong;
        covered = one.segment();
      }
    }
    return covered;
  }

  private Part part(String name, boolean isCovered, long after) throws CrailException, IOException {
    Counter counter = new Counter();
    long torn = 0;
    String wrong = "";
    try {
      torn = LogReader.readFile(directory, name, after, counter).tornBytes();
    } catch (LogDamage e) {
      wrong = e.getMessage();
    }
    try (LogFile file = directory.open(name)) {
      boolean isAhead = counter.frames == 0 && torn == 0 && wrong.isEmpty();
      return new Part(
          name,
          isCovered ? Use.COVERED : isAhead ? Use.AHEAD : Use.READ,
          file.length(),
          counter.first,
          counter.last,
          counter.frames,
          counter.end,
          torn,
          counter.firstMillis,
          counter.lastMillis,
          wrong.isEmpty() ? counter.last : lastIn(file, LogSegment.of(name)),
          wrong);
    }
  }

  /** The greatest number of a record in a damaged file. */
  private static long lastIn(LogFile file, long segment) throws IOException {
    long found = 0;
    for (long at = 0; at < file.length(); at += LogFrame.PAGE) {
      LogFrame.Header header = headerAt(file, at);
      if (header != null && header.segment() == segment && header.last() > found) {
        ByteBuffer frame = ByteBuffer.allocate(header.padded());
        file.read(frame, at);
        found = LogFrame.isWhole(frame.clear(), header) ? header.last() : found;
      }
    }
    return found;
  }

  /** Counts what it is shown, and keeps the first record of all. */
  private final class Counter implements LogReader.Visitor {
    private long records;
    private long first;
    private long last;
    private long frames;
    private long end;
    private long firstMillis;
    private long lastMillis;

    @Override
    public void frame(String file, long at, int bytes) {
      frames++;
      end = at + bytes;
    }

    @Override
    public void written(long millis, long nanos) {
      firstMillis = firstMillis == 0 ? millis : firstMillis;
      lastMillis = millis;
    }

    @Override
    public void record(long number, int kind, ByteBuffer bytes, int offset, int length) {
      if (number == 1 && kind == ChangeLog.FIRST_OWN_KIND && length <= SmallValue.MAX_LENGTH) {
        lineage = SmallValue.copyOf(bytes, offset, length);
      }
      records++;
      first = first == 0 ? number : first;
      last = number;
    }
  }
}

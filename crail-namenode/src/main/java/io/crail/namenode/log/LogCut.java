/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.error.CrailException;
import io.crail.namenode.log.LogDirectory.LogFile;
import io.crail.namenode.log.LogSurvey.Part;
import io.crail.namenode.log.LogSurvey.Snapshot;
import io.crail.namenode.log.LogSurvey.Use;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Ends a log after one of its records. What comes later stays in the directory, in files whose
 * names a namenode does not read. If the disk fails on the way, the log is as before, or ends
 * later, or is cut; to cut it again does the rest. For one thread, in a directory that nothing else
 * uses.
 */
public final class LogCut {
  /** What the names of files begin with that have what was cut off. */
  public static final String BEGIN = "cut-";

  private final LogDirectory directory;
  private final LogSurvey survey;
  private final long last;
  private final long lost;

  /** The file that has the last record that stays; null if all of the log goes. */
  private Part end;

  /** How many bytes of it stay as they are. */
  private long keptBytes;

  /** What stays of the frame behind them; null for nothing. */
  private ByteBuffer rest;

  private final List<String> whole = new ArrayList<>();

  private LogCut(LogDirectory directory, LogSurvey survey, long last, long lastSeen)
      throws IOException {
    this.directory = directory;
    this.survey = survey;
    this.last = last;
    this.lost = lastSeen - last;
    for (String name : directory.names()) {
      if (name.startsWith(Snapshots.BEGIN) && Snapshots.positionOf(name) > survey.begin()) {
        // Its mark first: without that it is none.
        whole.add(name.endsWith(Snapshots.WHOLE) ? 0 : whole.size(), name);
      }
    }
    List<String> later = new ArrayList<>();
    boolean goesOn = true;
    for (Part part : survey.parts()) {
      if (part.use() == Use.READ) {
        if (goesOn && part.frames() > 0 && part.first() <= last) {
          end = part;
        } else {
          later.add(0, part.file());
        }
        goesOn = goesOn && part.damage().isEmpty();
      }
    }
    whole.addAll(later);
    findEnd();
  }

  /**
   * Plans the cut after a record.
   *
   * @throws IOException that says why the log cannot end there
   */
  public static LogCut after(LogDirectory directory, long last) throws IOException {
    LogSurvey survey = LogSurvey.of(directory, last);
    if (survey.last() < last) {
      boolean isBegun = survey.parts().stream().anyMatch(part -> part.use() == Use.READ);
      throw new IOException(
          survey.isSnapshotDamaged() || !isBegun || survey.last() == 0
              ? "the log has no record " + last + " that a start could end with"
              : "the last whole record"
                  + (survey.damage().isEmpty() ? " is " : " before the damage is ")
                  + survey.last());
    }
    return new LogCut(directory, survey, last, LogSurvey.of(directory).lastSeen());
  }

  /**
   * Plans the cut before the first damage. If a snapshot is damaged, an older one takes its place,
   * or the log from its first record on.
   *
   * @throws IOException also when nothing is damaged
   */
  public static LogCut atDamage(LogDirectory directory) throws IOException {
    LogSurvey present = LogSurvey.of(directory);
    if (present.damage().isEmpty()) {
      throw new IOException("nothing is damaged");
    }
    LogSurvey survey = present;
    while (survey.isSnapshotDamaged()) {
      survey = LogSurvey.of(directory, survey.begin() - 1);
    }
    if (survey.last() == 0) {
      throw new IOException(
          "no start is possible with what is left: " + present.damage() + "; restore a copy");
    }
    return new LogCut(directory, survey, survey.last(), present.lastSeen());
  }

  /** The number of the last record that stays. */
  public long last() {
    return last;
  }

  /** How many records later than that are known. There may have been more, behind damage. */
  public long lost() {
    return lost;
  }

  /** The files that get another name, or end earlier; in the first case as a whole. */
  public List<String> changed() {
    List<String> names = new ArrayList<>(whole);
    if (isRewritten()) {
      names.add(end.file());
    }
    return names;
  }

  /** Whether the last file that stays has other bytes afterwards. */
  private boolean isRewritten() {
    return end != null
        && (keptBytes < end.usedBytes() || end.tornBytes() > 0 || !end.damage().isEmpty());
  }

  /** Finds what stays of the last file. */
  private void findEnd() throws IOException {
    if (end == null || end.last() <= last) {
      keptBytes = end == null ? 0 : end.usedBytes();
      return;
    }
    Kept kept = new Kept();
    try {
      LogReader.readFile(directory, end.file(), end.first() - 1, kept);
    } catch (LogDamage e) {
      // Behind what stays.
    } catch (CrailException e) {
      throw new IOException(e.getMessage(), e);
    }
    keptBytes = kept.wholeBytes;
    rest = kept.sealed();
  }

  /** Gathers what stays of the frame in which the log is cut. */
  private final class Kept implements LogReader.Visitor {
    private long wholeBytes;
    private long frameAt;
    private int frameBytes;
    private long frameMillis;
    private long frameNanos;
    private long millis;
    private long nanos;
    private ByteBuffer frame;
    private int count;

    @Override
    public void frame(String file, long at, int bytes) {
      frameAt = at;
      frameBytes = bytes;
    }

    @Override
    public void written(long writtenMillis, long ranNanos) {
      frameMillis = writtenMillis;
      frameNanos = ranNanos;
    }

    @Override
    public void record(long number, int kind, ByteBuffer bytes, int offset, int length) {
      if (number > last) {
        return;
      }
      if (frame == null || wholeBytes != frameAt) {
        wholeBytes = frameAt;
        millis = frameMillis;
        nanos = frameNanos;
        frame = ByteBuffer.allocate(frameBytes).order(ByteOrder.LITTLE_ENDIAN);
        frame.position(LogFrame.HEADER);
        count = 0;
      }
      frame.putInt(length).put((byte) kind).put(bytes.slice(offset, length));
      count++;
    }

    ByteBuffer sealed() {
      int length = frame.position() - LogFrame.HEADER;
      long first = last - count + 1;
      LogFrame.seal(
          frame,
          new LogFrame.Header(
              length, count, LogSegment.of(end.file()), first, first - 1, millis, nanos));
      return frame.clear().limit(LogFrame.padded(length));
    }
  }

  /**
   * Cuts the log.
   *
   * @param label a word for the names of the files with what is cut off, which no file has yet
   */
  public void perform(String label) throws IOException {
    String prefix = BEGIN + label + "-";
    String made = prefix + "new";
    if (isRewritten()) {
      // Before anything changes, since there may be no space for them.
      copy(end.file(), prefix + end.file());
      write(made);
    }
    for (String name : whole) {
      directory.rename(name, prefix + name);
    }
    if (isRewritten()) {
      directory.rename(made, end.file());
    }
  }

  private void copy(String name, String copy) throws IOException {
    try (LogFile from = directory.open(name);
        LogFile to = directory.create(copy, from.length())) {
      copyBytes(from, to, from.length());
      to.force();
    }
  }

  private void write(String made) throws IOException {
    long length = keptBytes + (rest == null ? 0 : rest.limit());
    try (LogFile from = directory.open(end.file());
        LogFile to = directory.create(made, length)) {
      copyBytes(from, to, keptBytes);
      if (rest != null) {
        to.write(rest.duplicate(), keptBytes);
      }
      to.force();
    }
  }

  private static void copyBytes(LogFile from, LogFile to, long length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
    for (long at = 0; at < length; at += bytes.limit()) {
      bytes.clear().limit((int) Math.min(bytes.capacity(), length - at));
      from.read(bytes, at);
      to.write(bytes.flip(), at);
    }
  }

  /** What there was before. */
  public LogSurvey survey() {
    return survey;
  }

  /** The snapshots that are not used any more. */
  public List<Snapshot> removedSnapshots() {
    return survey.snapshots().stream()
        .filter(each -> each.position() > survey.begin() && each.isWhole())
        .toList();
  }
}

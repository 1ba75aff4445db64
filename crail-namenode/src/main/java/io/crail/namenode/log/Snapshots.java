/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Queue;
import java.util.TreeSet;

/**
 * The snapshots in the directory of a log. A snapshot is a log of its own, whose records make the
 * state that the namenode had after a record of the log. Its files are complete when a file with
 * the name {@code snapshot-<number>.whole} is there, which is made last. What it covers is removed
 * after that: older snapshots, and the files of the log. For one thread.
 */
public final class Snapshots {
  static final String BEGIN = "snapshot-";
  static final String WHOLE = ".whole";
  private static final int DIGITS = 19;

  /** The kind of the last record of a snapshot. */
  private static final int END = 255;

  private static final int MOST_WAITING = 1 << 20;
  private static final int MARK_BYTES = LogFrame.PAGE;

  /**
   * The end of a snapshot.
   *
   * @param records how many records are before it
   * @param nanos time in which the namenode had run, over all its starts
   * @param segment the last file of the log that it covers
   */
  private record End(long records, long nanos, long segment) {
    private static final Codec<End> CODEC =
        Codec.of(
            End.class,
            Layout.of("Snapshots.End")
                .i64("records", "how many are before this one")
                .i64("nanos", "time in which the namenode had run")
                .i64("segment", "number of the last file of the log that it covers"));
  }

  /** Writes records. */
  @FunctionalInterface
  public interface Source {
    /** Appends all of them. */
    void writeTo(RecordTarget target);
  }

  private final LogDirectory directory;
  private long position;
  private long nanos;
  private long segment;

  /** Looks for a snapshot. */
  public Snapshots(LogDirectory directory) throws IOException {
    this.directory = directory;
    TreeSet<Long> whole = new TreeSet<>();
    for (String name : directory.names()) {
      if (name.startsWith(BEGIN) && name.endsWith(WHOLE)) {
        whole.add(positionOf(name));
      }
    }
    position = whole.isEmpty() ? 0 : whole.last();
  }

  private static long positionOf(String name) {
    return Long.parseLong(name.substring(BEGIN.length(), BEGIN.length() + DIGITS));
  }

  private static String prefix(long at) {
    return String.format(Locale.ROOT, "%s%0" + DIGITS + "d", BEGIN, at);
  }

  /** The number of the record after which the present one was made; 0 if there is none. */
  public long position() {
    return position;
  }

  /** The time in which the namenode had run then. */
  public long nanos() {
    return nanos;
  }

  /**
   * Reads the present snapshot, if there is one.
   *
   * @throws LogDamage when it is damaged
   */
  public void read(LogReader.Visitor visitor) throws CrailException, IOException {
    if (position == 0) {
      return;
    }
    End[] end = new End[1];
    LogReader reader =
        LogReader.read(
            new PrefixedDirectory(directory, prefix(position) + "-"),
            new LogReader.Visitor() {
              @Override
              public void written(long millis, long ranNanos) {
                visitor.written(millis, ranNanos);
              }

              @Override
              public void record(long number, int kind, ByteBuffer bytes, int offset, int length)
                  throws CrailException, IOException {
                if (kind == END) {
                  end[0] = End.CODEC.decode(bytes, offset, length);
                } else {
                  visitor.record(number, kind, bytes, offset, length);
                }
              }
            });
    if (end[0] == null || reader.last() != end[0].records + 1) {
      throw new LogDamage(prefix(position) + ": it ends after record " + reader.last());
    }
    nanos = end[0].nanos;
    segment = end[0].segment;
  }

  /** The number of the last file of the log that the present one covers; 0 if there is none. */
  public long segment() {
    return segment;
  }

  /** Removes what the present one covers, after a start from it, and what is left of others. */
  public void purge() throws IOException {
    for (String name : directory.names()) {
      boolean isOther = name.startsWith(BEGIN) && !isOf(name, position);
      if (isOther || (LogSegment.isName(name) && LogSegment.of(name) <= segment)) {
        directory.delete(name);
      }
    }
  }

  private static boolean isOf(String name, long at) {
    return at > 0 && name.startsWith(prefix(at));
  }

  /**
   * Writes a snapshot for the next start.
   *
   * @param present what was read of the log, all of which is in it
   * @param segmentBytes bytes of a file
   * @throws IOException if it cannot be written; then nothing is left of it
   */
  public void write(LogReader present, Clock clock, long segmentBytes, Source source)
      throws IOException {
    long at = present.last();
    if (at == position) {
      // The present one says the same.
      return;
    }
    boolean isWhole = false;
    try {
      writeFiles(at, present, clock, segmentBytes, source);
      directory.create(prefix(at) + WHOLE, MARK_BYTES).close();
      isWhole = true;
    } finally {
      if (!isWhole) {
        directory.delete(prefix(at) + WHOLE);
        for (String name : directory.names()) {
          if (isOf(name, at)) {
            directory.delete(name);
          }
        }
      }
    }
  }

  private void writeFiles(long at, LogReader present, Clock clock, long segmentBytes, Source source)
      throws IOException {
    LogDirectory files = new PrefixedDirectory(directory, prefix(at) + "-");
    Queue<Runnable> tasks = new ArrayDeque<>();
    long[] written = new long[1];
    long[] waiting = new long[1];
    LogReader nothing = LogReader.nothing(present.nanos());
    try (ChangeLog log = new ChangeLog(files, nothing, clock, tasks::add, segmentBytes)) {
      source.writeTo(
          new RecordTarget() {
            @Override
            public <T> void append(int kind, Codec<T> codec, T record) {
              log.append(kind, codec, record);
              written[0]++;
              waiting[0] += codec.length(record);
              if (waiting[0] > MOST_WAITING) {
                waiting[0] = 0;
                runAll(tasks);
              }
            }
          });
      log.append(END, End.CODEC, new End(written[0], present.nanos(), present.lastSegment()));
      runAll(tasks);
      if (log.reached() != written[0] + 1) {
        throw new IOException("the snapshot was not written: " + log.failure());
      }
    }
  }

  private static void runAll(Queue<Runnable> tasks) {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }
}

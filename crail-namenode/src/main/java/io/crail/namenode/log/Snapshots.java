/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The snapshots in the directory of a log. A snapshot is a log of its own, whose records make the
 * state that the namenode had after a record of the log. Its files have names of their own, and are
 * only looked at when a file with that name and {@code .whole} is there, which is made last. What
 * it covers is removed after that: older snapshots, and the files of the log. For one thread.
 */
public final class Snapshots {
  static final String BEGIN = "snapshot-";
  static final String WHOLE = ".whole";
  private static final int DIGITS = 19;

  /** Of a hyphen and eight digits, which tell attempts apart. */
  private static final int OF_ATTEMPT = 9;

  /** The kind of the last record of a snapshot. */
  private static final int END = 255;

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

  /**
   * How large a snapshot is.
   *
   * @param records how many records it has
   * @param bytes how long its files are, all together
   */
  public record Size(long records, long bytes) {}

  /** Writes records. */
  @FunctionalInterface
  public interface Source {
    /** Appends all of them. */
    void writeTo(RecordTarget target);
  }

  private final LogDirectory directory;
  private String name = "";
  private long position;
  private long nanos;
  private long segment;
  private long millis;

  /** Looks for a snapshot. */
  public Snapshots(LogDirectory directory) throws IOException {
    this(directory, Long.MAX_VALUE);
  }

  /** Looks for a snapshot that was made after this record at the latest. */
  Snapshots(LogDirectory directory, long most) throws IOException {
    this.directory = directory;
    for (String file : directory.names()) {
      if (file.startsWith(BEGIN) && file.endsWith(WHOLE) && positionOf(file) <= most) {
        // The names are in the order of the positions.
        name = file.substring(0, file.length() - WHOLE.length());
        position = positionOf(file);
      }
    }
  }

  /** Whether this is a file of a log or of a snapshot. */
  public static boolean isFile(String name) {
    return LogSegment.isName(name) || name.startsWith(BEGIN);
  }

  /**
   * The files of the present snapshot, and those of the log that are written no more.
   *
   * @param names those of all files
   * @param lastSegment the number of the last file of the log that is written no more
   */
  public static List<String> closed(List<String> names, long lastSegment) {
    Optional<String> whole =
        names.stream()
            .filter(name -> name.startsWith(BEGIN) && name.endsWith(WHOLE))
            .max(Comparator.naturalOrder())
            .map(name -> name.substring(0, name.length() - WHOLE.length()));
    return names.stream()
        .filter(
            name ->
                LogSegment.isName(name)
                    ? LogSegment.of(name) <= lastSegment
                    : whole.isPresent() && name.startsWith(whole.get()))
        .toList();
  }

  static long positionOf(String name) {
    return Long.parseLong(name.substring(BEGIN.length(), BEGIN.length() + DIGITS));
  }

  /** What the names of all files of a snapshot begin with, and only those. */
  static String stemOf(String file) {
    return file.substring(0, Math.min(file.length(), BEGIN.length() + DIGITS + OF_ATTEMPT));
  }

  /** The stem of the present one; empty if there is none. */
  String stem() {
    return name;
  }

  /**
   * A name for a snapshot that is to be made.
   *
   * @param attempt tells it from others, which may still be written by a process that was killed
   */
  public static String name(ClosedSegments closed, int attempt) {
    return String.format(Locale.ROOT, "%s%0" + DIGITS + "d-%08x", BEGIN, closed.last(), attempt);
  }

  /** The number of the record after which the present one was made; 0 if there is none. */
  public long position() {
    return position;
  }

  /** The time in which the namenode had run then. */
  public long nanos() {
    return nanos;
  }

  /** When it was written, in milliseconds since 1970; 0 if there is none. */
  public long millis() {
    return millis;
  }

  /** The number of the last file of the log that the present one covers; 0 if there is none. */
  public long segment() {
    return segment;
  }

  /**
   * Reads the present snapshot, if there is one.
   *
   * @throws LogDamage when it is damaged
   */
  public void read(LogReader.Visitor visitor) throws CrailException, IOException {
    if (!name.isEmpty()) {
      Content content = new Content(visitor);
      End end = content.read(directory, name);
      nanos = end.nanos;
      segment = end.segment;
      millis = content.millis;
    }
  }

  /**
   * Reads what follows on the present snapshot in files that do not change any more, while the next
   * one is written.
   *
   * @throws LogDamage also when not all of their records are there: no later file shows that
   */
  public LogReader readClosed(ClosedSegments closed, LogReader.Visitor visitor)
      throws CrailException, IOException {
    LogReader reader =
        LogReader.read(directory, segment, position, nanos, closed.segment(), visitor);
    if (reader.last() != closed.last()) {
      throw new LogDamage(
          LogSegment.name(closed.segment())
              + ": it ends after record "
              + reader.last()
              + " instead of "
              + closed.last());
    }
    return reader;
  }

  /** The records of a snapshot. */
  private static final class Content implements LogReader.Visitor {
    private final LogReader.Visitor visitor;
    private long millis;
    private End end;

    Content(LogReader.Visitor visitor) {
      this.visitor = visitor;
    }

    End read(LogDirectory from, String snapshot) throws CrailException, IOException {
      LogReader reader;
      try {
        reader = LogReader.read(new PrefixedDirectory(from, snapshot + "-"), this);
      } catch (LogDamage e) {
        // It names the file without what all files of the snapshot begin with.
        throw new LogDamage(snapshot + "-" + e.getMessage());
      }
      if (end == null || reader.last() != end.records + 1) {
        throw new LogDamage(snapshot + ": it ends after record " + reader.last());
      }
      return end;
    }

    @Override
    public void written(long writtenMillis, long ranNanos) {
      millis = writtenMillis;
      visitor.written(writtenMillis, ranNanos);
    }

    @Override
    public void record(long number, int kind, ByteBuffer bytes, int offset, int length)
        throws CrailException, IOException {
      if (kind == END) {
        end = End.CODEC.decode(bytes, offset, length);
      } else {
        visitor.record(number, kind, bytes, offset, length);
      }
    }
  }

  /** Removes what the present one covers, and what is left of others. */
  public void purge() throws IOException {
    List<String> others =
        directory.names().stream()
            .filter(file -> file.startsWith(BEGIN) && !isPresent(file))
            .toList();
    // Without its files, one that is marked would be damage.
    for (String file : others) {
      if (file.endsWith(WHOLE)) {
        directory.delete(file);
      }
    }
    for (String file : others) {
      directory.delete(file);
    }
    for (String file : directory.names()) {
      if (LogSegment.isName(file) && LogSegment.of(file) <= segment) {
        directory.delete(file);
      }
    }
  }

  private boolean isPresent(String file) {
    return !name.isEmpty() && file.startsWith(name);
  }

  /**
   * Writes a snapshot, makes it durable, reads it again and compares. It does not count before it
   * is {@linkplain #mark marked}. After an error, {@link #purge} removes what is left.
   *
   * @param newName see {@link #name}
   * @param closed what it covers
   * @param ranNanos time in which the namenode had run then
   * @param fileBytes most bytes of a file
   */
  public static Size write(
      LogDirectory directory,
      String newName,
      ClosedSegments closed,
      long ranNanos,
      Clock clock,
      long fileBytes,
      Source source)
      throws CrailException, IOException {
    LogDirectory files = new PrefixedDirectory(directory, newName + "-");
    End end;
    Size size;
    try (SnapshotWriter writer =
        new SnapshotWriter(files, fileBytes, clock.currentTimeMillis(), ranNanos)) {
      source.writeTo(writer);
      end = new End(writer.records(), ranNanos, closed.segment());
      writer.append(END, End.CODEC, end);
      writer.finish();
      size = new Size(writer.records(), writer.bytes());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    check(directory, newName, end);
    return size;
  }

  private static void check(LogDirectory directory, String snapshot, End expected)
      throws CrailException, IOException {
    LogReader.Visitor nothing =
        new LogReader.Visitor() {
          @Override
          public void written(long millis, long nanos) {}

          @Override
          public void record(long number, int kind, ByteBuffer bytes, int offset, int length) {}
        };
    End found = new Content(nothing).read(directory, snapshot);
    if (!found.equals(expected)) {
      throw new LogDamage(snapshot + ": " + found + " was read, and " + expected + " written");
    }
  }

  /**
   * From now on a snapshot is the present one, for each start too.
   *
   * @param newName its name
   * @param closed what it covers
   * @throws IOException if it could not be marked; then nothing has changed
   */
  public void mark(String newName, ClosedSegments closed, Clock clock) throws IOException {
    boolean isMarked = false;
    try {
      directory.create(newName + WHOLE, MARK_BYTES).close();
      isMarked = true;
    } finally {
      if (!isMarked) {
        directory.delete(newName + WHOLE);
      }
    }
    name = newName;
    position = closed.last();
    segment = closed.segment();
    millis = clock.currentTimeMillis();
  }
}

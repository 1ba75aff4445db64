/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Change;
import io.crail.namenode.change.ChangeRecords;
import io.crail.namenode.change.Replay;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.LogDirectory;
import io.crail.namenode.log.LogReader;
import io.crail.namenode.log.RecordBytes;
import io.crail.namenode.log.RecordTarget;
import io.crail.namenode.log.Snapshots;
import io.crail.namenode.rule.SpreadRule;
import io.crail.protocol.codec.Codec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A namenode that is made of its log, and writes its changes there. The first record of a log is
 * the {@link Lineage}; all others are changes, and the answers to requests, see {@link AnswerLog}.
 */
final class NameNodeLog implements LogReader.Visitor {
  /** The kind of the record that holds the lineage. */
  static final int LINEAGE = ChangeLog.FIRST_OWN_KIND;

  private static final Logger LOG = LoggerFactory.getLogger(NameNodeLog.class);
  private static final long REPORT_RECORDS = 1_000_000;

  private final NameNodeOptions options;
  private final Clock clock;
  private final RandomGenerator random;
  private final SpreadRule.Neighbours neighbours;
  private final AnswerLog answers = new AnswerLog();
  private NameNode namenode;
  private Replay replay;
  private CommitLog log;

  private NameNodeLog(
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      SpreadRule.Neighbours neighbours) {
    this.options = options;
    this.clock = clock;
    this.random = random;
    this.neighbours = neighbours;
  }

  /** Makes the log that goes on with what was read. */
  interface Writer {
    ChangeLog goOn(LogReader present) throws IOException;

    /** How many records a snapshot takes the place of, at least. */
    long snapshotRecords();

    /** Bytes of a file. */
    long segmentBytes();
  }

  /**
   * Makes a namenode of what a directory holds; an empty one if it holds nothing.
   *
   * @throws IOException that names the file if it cannot be read, or is damaged
   */
  static NameNodeLog open(
      LogDirectory directory,
      Writer writer,
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      SpreadRule.Neighbours neighbours)
      throws IOException {
    NameNodeLog made = new NameNodeLog(options, clock, random, neighbours);
    Snapshots snapshots = new Snapshots(directory);
    LogReader present = made.read(directory, snapshots);
    if (made.namenode != null) {
      made.replay.end();
      made.replay = null;
      snapshots.purge();
      made.shorten(snapshots, present, writer.snapshotRecords(), writer.segmentBytes());
    }
    made.lead(writer.goOn(present));
    return made;
  }

  /** One that makes the changes of records, until it is to {@link #lead}. */
  static NameNodeLog follow(
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      SpreadRule.Neighbours neighbours) {
    return new NameNodeLog(options, clock, random, neighbours);
  }

  /** Writes from now on, as the one that may make changes. */
  void lead(CommitLog to) {
    if (replay != null) {
      replay.end();
      replay = null;
    }
    log = to;
    if (namenode == null) {
      Lineage lineage = Lineage.begin(options, clock, random);
      to.append(LINEAGE, Lineage.CODEC, lineage);
      begin(lineage);
      LOG.info("namenode {} begins a log", options.index());
    }
    answers.noteIn(to);
    namenode.replies().restored();
    namenode.reserve();
  }

  /**
   * Reads what a directory holds.
   *
   * @throws IOException that names the file if it cannot be read, or is damaged
   */
  LogReader read(LogDirectory directory, Snapshots snapshots) throws IOException {
    long begun = clock.nanoTime();
    try {
      snapshots.read(this);
      LogReader present =
          LogReader.read(
              directory, snapshots.segment(), snapshots.position(), snapshots.nanos(), this);
      if (namenode != null) {
        LOG.info(
            "namenode {} has read its log from record {} on, {} records in {} ms: {} nodes; {}"
                + " bytes of what was not whole were dropped",
            options.index(),
            snapshots.position() + 1,
            present.last() - snapshots.position(),
            (clock.nanoTime() - begun) / 1_000_000,
            namenode.tree().size(),
            present.tornBytes());
      }
      return present;
    } catch (CrailException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /**
   * Writes a snapshot for the next start, if the log is so long that it would take most of the time
   * of that. Without space for it, the log goes on.
   */
  private void shorten(
      Snapshots snapshots, LogReader present, long leastRecords, long segmentBytes) {
    long records = present.last() - snapshots.position();
    if (records < leastRecords || records < namenode.tree().size() / 2) {
      return;
    }
    long begun = clock.nanoTime();
    try {
      snapshots.write(
          present,
          clock,
          segmentBytes,
          target -> {
            target.append(LINEAGE, Lineage.CODEC, namenode.lineage());
            namenode.writeState(change -> append(target, change));
            AnswerLog.write(namenode.replies(), target);
          });
      LOG.info(
          "namenode {} has written a snapshot in {} ms",
          options.index(),
          (clock.nanoTime() - begun) / 1_000_000);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      LOG.warn("namenode {} cannot write a snapshot", options.index(), e);
    }
  }

  @SuppressWarnings("unchecked")
  private static void append(RecordTarget target, Change change) {
    target.append(change.number(), (Codec<Change>) change.codec(), change);
  }

  NameNode namenode() {
    return namenode;
  }

  CommitLog log() {
    return log;
  }

  private void begin(Lineage lineage) {
    namenode = new NameNode(options, clock, random, this::changed, neighbours, lineage, answers);
  }

  /** The calling thread's request is about to change something, or others are to go on with it. */
  void handsOver() {
    try {
      answers.beforeChange();
    } catch (RuntimeException | Error e) {
      // The change may be made, and is in no record.
      log.fail(e);
      throw e;
    }
  }

  private void changed(Change change) {
    // What comes while the log is read is in it: the name of the namenode's own user.
    if (log != null) {
      handsOver();
      append(log, change);
    }
  }

  @Override
  public void written(long millis, long nanos) {
    if (replay != null) {
      replay.at(nanos);
    }
  }

  @Override
  public void record(long number, int kind, ByteBuffer bytes, int offset, int length)
      throws IOException {
    try {
      if ((kind == LINEAGE) != (number == 1)) {
        throw ErrorCode.INTERNAL.exception("kind " + kind);
      }
      if (kind == LINEAGE) {
        Lineage.requireFormat(bytes, offset, length);
        begin(Lineage.CODEC.decode(bytes, offset, length));
        replay = namenode.replay();
      } else if (kind == RecordBytes.NOTHING) {
        // It was agreed on, which is all that it says.
      } else if (kind >= AnswerLog.FIRST_KIND) {
        answers.restore(namenode.replies(), kind, bytes, offset, length);
      } else {
        Codec<? extends Change> codec = ChangeRecords.codec(kind);
        replay.apply(codec.decode(bytes, offset, length));
      }
    } catch (CrailException e) {
      // The file is named by who reads it.
      throw new IOException("record " + number + " of the log: " + e.getMessage(), e);
    }
    if (number % REPORT_RECORDS == 0) {
      LOG.info("namenode {} has read {} records of its log", options.index(), number);
    }
  }
}

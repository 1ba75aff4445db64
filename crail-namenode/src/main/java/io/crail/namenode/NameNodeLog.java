/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.ahead.AheadLog;
import io.crail.namenode.change.Change;
import io.crail.namenode.change.ChangeRecords;
import io.crail.namenode.change.Replay;
import io.crail.namenode.change.SpaceChange;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.ClosedSegments;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.LogDirectory;
import io.crail.namenode.log.LogReader;
import io.crail.namenode.log.RecordBytes;
import io.crail.namenode.log.RecordTarget;
import io.crail.namenode.log.Snapshots;
import io.crail.namenode.rule.SpreadRule;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.part.NodeInfo;
import io.crail.rpc.CommitGate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
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

  /** The kind of the record that says how a namenode starts. */
  static final int START = LINEAGE + 5;

  private static final Logger LOG = LoggerFactory.getLogger(NameNodeLog.class);
  private static final long REPORT_RECORDS = 1_000_000;

  private final Clock clock;
  private final RandomGenerator random;
  private final SpreadRule.Neighbours neighbours;
  private final AnswerLog answers = new AnswerLog();
  private NameNodeOptions options;

  /** Gives the options if they follow from the log; null if they are known. */
  private Function<Lineage, NameNodeOptions> optionsOf;

  private NameNode namenode;
  private Replay replay;
  private CommitLog log;
  private Checkpoints checkpoints;
  private BooleanSupplier isEnded = () -> false;

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

    /** Where changes go that are made from now on: the log, or what writes there. */
    default CommitLog commits(ChangeLog log) {
      return log;
    }

    /** Makes what writes snapshots. */
    Checkpoints snapshots(Snapshots present, NameNodeOptions options, RandomGenerator random);
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
      snapshots.purge();
    }
    ChangeLog log = writer.goOn(present);
    made.lead(writer.commits(log), present.isClosed(), directory.isCopy());
    // From now on it has what its peers do not have.
    directory.markCopy(false);
    made.checkpoints = writer.snapshots(snapshots, options, random);
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
    lead(to, false, false);
  }

  /**
   * As the other one.
   *
   * @param isWhole whether the namenode before has written all before its end
   * @param isCopy whether it was a standby, whose files may lack what was acknowledged last
   */
  private void lead(CommitLog to, boolean isWhole, boolean isCopy) {
    final boolean wasAhead = namenode != null && namenode.start().ahead();
    final boolean isLossy = namenode != null && (wasAhead || isCopy) && !isWhole;
    final boolean isAhead = to instanceof AheadLog;
    if (isLossy) {
      lose();
      LOG.warn(
          "namenode {} has not ended in order: its last changes may be missing, and writers have to"
              + " begin again",
          options.index());
    }
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
    if (isAhead || wasAhead || isLossy) {
      // The first record, which no answer is ahead of. Without it, the end of the log would still
      // say that nothing is missing.
      long incarnation = isLossy ? random.nextLong() : namenode.start().incarnation();
      Lineage.Start start = new Lineage.Start(incarnation, isAhead, isLossy);
      to.append(START, Lineage.Start.CODEC, start);
      namenode.started(start);
    }
    answers.noteIn(to);
    namenode.locks().onError(to::fail);
    namenode.replies().restored();
    namenode.reserve();
    if (to instanceof AheadLog ahead) {
      namenode.allocator().returnAfter(ahead);
    }
    if (isLossy) {
      namenode.leases().endAll();
    }
  }

  /** The last changes are missing, and clients may know them. */
  private void lose() {
    replay.lost(answers.forget(namenode.replies()));
  }

  /**
   * Which records come first where answers do not wait for the log: those that others than clients
   * rest on, such as datanodes and other namenodes; numbers that are given out; and which clients
   * there are, so that a start knows all that may have got space by changes that are lost.
   */
  static boolean isFirst(int kind, Object record) {
    if (record instanceof Change.Link link) {
      return (link.contents().flags() & NodeInfo.SPREAD) != 0;
    }
    boolean isOfNode =
        record instanceof Change.Unlink
            || record instanceof Change.Rename
            || record instanceof Change.Attributes
            || record instanceof Change.Contents
            || record instanceof Change.Grant;
    boolean isName = record instanceof SpaceChange.User || record instanceof SpaceChange.Host;
    return !isOfNode && !isName && !AnswerLog.isAnswer(kind);
  }

  /** Says who makes snapshots of the files in which the records are. */
  void keep(Checkpoints of) {
    checkpoints = of;
  }

  /**
   * What was made of a directory.
   *
   * @param begin number of the last record in the snapshot; 0 for none
   */
  record Replayed(NameNode namenode, long begin, LogReader present) {}

  /**
   * Makes a namenode of what a directory holds, which writes nothing there; null if it holds
   * nothing.
   *
   * @param optionsOf gives the options for the lineage that is there
   * @throws IOException as {@link #open} does
   */
  static Replayed replay(
      LogDirectory directory,
      Function<Lineage, NameNodeOptions> optionsOf,
      Clock clock,
      RandomGenerator random)
      throws IOException {
    NameNodeLog made = new NameNodeLog(null, clock, random, NameNode.ALONE);
    made.optionsOf = optionsOf;
    Snapshots snapshots = new Snapshots(directory);
    LogReader present = made.read(directory, snapshots);
    if (made.namenode == null) {
      return null;
    }
    made.replay.end();
    made.namenode.replies().restored();
    return new Replayed(made.namenode, snapshots.position(), present);
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
   * Writes a snapshot of what the files of a log make that are written no more, while the namenode
   * goes on with the next one. All is done in a namenode of its own, which nothing else uses.
   *
   * @param name see {@link Snapshots#name}
   * @param fileBytes most bytes of a file
   * @param isEnded whether there is no use for it any more
   */
  static Snapshots.Size checkpoint(
      LogDirectory directory,
      ClosedSegments closed,
      String name,
      long fileBytes,
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      BooleanSupplier isEnded)
      throws IOException {
    NameNodeLog made = new NameNodeLog(options, clock, random, NameNode.ALONE);
    made.isEnded = isEnded;
    try {
      Snapshots snapshots = new Snapshots(directory);
      snapshots.read(made);
      LogReader present = snapshots.readClosed(closed, made);
      made.replay.end();
      return Snapshots.write(
          directory, name, closed, present.nanos(), clock, fileBytes, made::writeState);
    } catch (CrailException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private void writeState(RecordTarget target) {
    target.append(LINEAGE, Lineage.CODEC, namenode.lineage());
    Lineage.Start start = namenode.start();
    if (start.ahead() || start.incarnation() != namenode.lineage().incarnation()) {
      target.append(
          START, Lineage.Start.CODEC, new Lineage.Start(start.incarnation(), start.ahead(), false));
    }
    namenode.writeState(change -> append(target, change));
    AnswerLog.write(namenode.replies(), target);
  }

  @SuppressWarnings("unchecked")
  private void append(RecordTarget target, Change change) {
    requireUse();
    target.append(change.number(), (Codec<Change>) change.codec(), change);
  }

  NameNode namenode() {
    return namenode;
  }

  CommitLog log() {
    return log;
  }

  /** What requests to other namenodes wait for: all that was changed before them. */
  CommitGate all() {
    return log instanceof AheadLog ahead ? ahead.log() : log;
  }

  Checkpoints checkpoints() {
    return checkpoints;
  }

  /** How the log stands that answers wait for. */
  LogStanding standing() {
    return checkpoints.standing(log);
  }

  private void requireUse() {
    if (isEnded.getAsBoolean()) {
      throw new CancellationException("the namenode ends");
    }
  }

  private void begin(Lineage lineage) {
    if (optionsOf != null) {
      options = optionsOf.apply(lineage);
    }
    namenode = new NameNode(options, clock, random, this::changed, neighbours, lineage, answers);
  }

  /** Others are about to go on with the request that the calling thread serves. */
  void handsOver() {
    answers.handsOver();
  }

  private void changed(Change change) {
    // What comes while the log is read is in it: the name of the namenode's own user.
    if (log != null) {
      try {
        answers.changed(log, change);
      } catch (RuntimeException | Error e) {
        // The change may be made, and is in no record.
        log.fail(e);
        throw e;
      }
    }
  }

  @Override
  public void written(long millis, long nanos) {
    requireUse();
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
      } else if (kind == START) {
        Lineage.Start start = Lineage.Start.CODEC.decode(bytes, offset, length);
        if (start.lossy()) {
          lose();
        }
        namenode.started(start);
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

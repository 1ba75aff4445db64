/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import io.crail.common.ByteText;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.DrainStanding;
import io.crail.tool.report.ProgressLines;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Empties one datanode, in passes over the namenodes, or brings it back. How far that is, the
 * namenodes know, so that a command may go on with what another one has begun. Used by one thread.
 */
final class DatanodeDrain {
  /** Between two passes that have moved nothing. */
  private static final long PAUSE_MILLIS = 1000;

  /** What a datanode may need to find a namenode that has restarted, beside its signs of life. */
  private static final long FIND_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The part of one namenode. */
  private static final class Part {
    private DrainStanding standing = DrainStanding.UNKNOWN;

    /** The datanode's id, while it is known there. */
    private int id;

    /** Others look at it. */
    private volatile long usedBytes;

    private long restingBytes;

    /** The start of the namenode at which it was last seen to be drained. */
    private long incarnation;

    private boolean drains;

    /** Whether the namenode has let it end. */
    private boolean letGo;

    private boolean lost;

    /** Whether nothing of it is in use there, or can be. */
    boolean isGone() {
      return switch (standing) {
        case UNKNOWN, LET_GO, LOST -> true;
        case ACTIVE, DRAINING, SILENT -> false;
      };
    }
  }

  private final MoveCluster cluster;

  /** Of the process, and of the bytes that it keeps as soon as that is known. */
  private UUID uuid;

  private final String name;
  private final ExtentMover mover;
  private final ProgressLines lines;
  private final Part[] parts;

  /** When it was last known somewhere, or a namenode did not answer. */
  private long knownNanos = System.nanoTime();

  /** The time of the earlier passes that have moved something. */
  private long movingNanos;

  /** When the present pass began, and what had been moved by then. */
  private long passNanos;

  private long passExtents;

  /** Why a namenode has no part in the present pass; empty if all have. */
  private volatile String missing = "";

  /** Whether the last pass has found an extent, and what has held it up. */
  private boolean foundSome = true;

  private boolean foundExtent;

  private volatile String held = "";

  /**
   * Creates it; nothing is asked.
   *
   * @param uuid the identity of the datanode's process
   * @param name its address
   * @param bandwidth bytes a second; 0 for all that goes
   * @param out for lines that say how far it is
   */
  DatanodeDrain(MoveCluster cluster, UUID uuid, String name, long bandwidth, PrintStream out) {
    this.cluster = cluster;
    this.uuid = uuid;
    this.name = name;
    this.lines = new ProgressLines(out, this::progress);
    this.mover = new ExtentMover(cluster.connections(), cluster.transferNanos(), bandwidth, lines);
    this.parts = new Part[cluster.count()];
    Arrays.setAll(parts, index -> new Part());
  }

  /** The address of the datanode. */
  String name() {
    return name;
  }

  /** The bytes that are still to be moved. */
  long leftBytes() {
    return Arrays.stream(parts).mapToLong(part -> Math.max(0, part.usedBytes)).sum();
  }

  /** What holds it up, for any thread; empty for nothing. */
  String heldUpBy() {
    String first = missing;
    return first.isEmpty() ? held : first;
  }

  private long restingBytes() {
    return Arrays.stream(parts).mapToLong(part -> part.restingBytes).sum();
  }

  /** What was moved, in a few words. */
  String moved() {
    return ByteText.of(mover.bytes()) + " in " + mover.extents() + " extents";
  }

  /**
   * Lets the datanode give out no more space, everywhere or nowhere.
   *
   * @throws CrailException with UNAVAILABLE when a namenode does not answer, or the datanode is
   *     silent
   */
  void begin() throws CrailException, InterruptedException {
    lookEverywhere();
    List<Integer> begun = new ArrayList<>();
    for (int index = 0; index < parts.length; index++) {
      if (parts[index].standing == DrainStanding.ACTIVE) {
        // Before it is asked, since its answer may be lost.
        begun.add(index);
      }
      try {
        look(index);
      } catch (CrailException e) {
        if (undone(begun)) {
          throw nothingDone(index, e);
        }
        throw e.code()
            .exception(
                e.getMessage()
                    + "; the drain may have begun at some namenodes: 'crail drain --cancel' undoes"
                    + " it");
      }
    }
  }

  /** Takes back what was begun; false if that failed, so that the next command has to. */
  private boolean undone(List<Integer> begun) throws InterruptedException {
    try {
      for (int each : begun) {
        act(each, DrainAction.CANCEL);
      }
      return true;
    } catch (CrailException e) {
      return false;
    }
  }

  /**
   * Lets the datanode give out its space again, also where it was let go.
   *
   * @throws CrailException with UNAVAILABLE when a namenode does not answer; or only some use it
   *     again; with UNKNOWN_DATANODE when it has ended everywhere
   */
  void cancel() throws CrailException, InterruptedException {
    lookEverywhere();
    for (int index = 0; index < parts.length; index++) {
      try {
        act(index, DrainAction.CANCEL);
      } catch (CrailException e) {
        throw e.code()
            .exception(
                cluster.name(index)
                    + ": "
                    + e.detail()
                    + "; not all namenodes use the datanode again: run the command once more");
      }
    }
    long used = Arrays.stream(parts).filter(part -> part.standing == DrainStanding.ACTIVE).count();
    if (used == parts.length) {
      return;
    }
    boolean isGone = Arrays.stream(parts).allMatch(part -> part.isGone());
    throw isGone
        ? ErrorCode.UNKNOWN_DATANODE.exception(
            name() + ": its drain has ended, or no namenode knows it yet; see 'crail datanodes'")
        : ErrorCode.UNAVAILABLE.exception(
            name()
                + ": "
                + used
                + " of "
                + parts.length
                + " namenodes use it again; the others do not know it yet, or have let it end: run"
                + " the command once more");
  }

  /** Asks all namenodes, so that nothing is begun that one of them would not take part in. */
  private void lookEverywhere() throws CrailException, InterruptedException {
    for (int index = 0; index < parts.length; index++) {
      try {
        act(index, DrainAction.LOOK);
      } catch (CrailException e) {
        throw nothingDone(index, e);
      }
      requireHeard(parts[index]);
    }
  }

  private CrailException nothingDone(int index, CrailException cause) {
    return cause
        .code()
        .exception(
            cluster.name(index)
                + ": "
                + cause.detail()
                + "; a drain begins and is cancelled at all namenodes, so nothing was done");
  }

  private void requireHeard(Part part) throws CrailException {
    if (part.standing == DrainStanding.SILENT) {
      throw ErrorCode.UNAVAILABLE.exception(
          "datanode "
              + name()
              + " is silent; 'crail removeDatanode' gives its data up, and then 'crail fsck"
              + " --repair' removes what is left of the files");
    }
  }

  private void act(int index, DrainAction action) throws CrailException, InterruptedException {
    DrainDatanode.Response answer =
        cluster.ask(
            index,
            NameNodeOperations.DRAIN_DATANODE,
            new DrainDatanode.Request(
                uuid.getMostSignificantBits(), uuid.getLeastSignificantBits(), action));
    if (!answer.keeper().equals(RegisterDatanode.KEEPS_NOTHING)) {
      // The process may end and start again meanwhile.
      uuid = answer.keeper();
    }
    Part part = parts[index];
    part.standing = answer.standing();
    part.id = answer.datanode();
    boolean isThere = part.standing != DrainStanding.LOST;
    part.usedBytes = isThere ? answer.usedBytes() : 0;
    part.restingBytes = isThere ? answer.waitingBytes() : 0;
    part.lost |= part.standing == DrainStanding.LOST;
  }

  /**
   * Looks how the datanode stands at a namenode, and takes it out of use where a restarted namenode
   * has forgotten that.
   *
   * @throws CrailException with UNAVAILABLE while it is silent; with CLOSED when the drain was
   *     cancelled
   */
  private void look(int index) throws CrailException, InterruptedException {
    Part part = parts[index];
    act(index, DrainAction.LOOK);
    long incarnation = cluster.incarnation(index);
    if (part.standing == DrainStanding.ACTIVE) {
      if (part.drains && part.incarnation == incarnation) {
        throw ErrorCode.CLOSED.exception("the drain of " + name() + " was cancelled");
      }
      act(index, DrainAction.BEGIN);
      incarnation = cluster.incarnation(index);
    }
    requireHeard(part);
    switch (part.standing) {
      case DRAINING, ACTIVE -> {
        part.drains = true;
        part.incarnation = incarnation;
        part.letGo = false;
      }
      case LET_GO -> part.letGo = true;
      // One that has restarted may have forgotten it, and hear of it again.
      default -> part.letGo |= part.drains && part.incarnation == incarnation;
    }
  }

  /**
   * Moves everything, and waits until each namenode has let the datanode end.
   *
   * @throws CrailException with DATA_LOST when the datanode was lost before, wherever that was,
   *     once the rest is moved; with UNSUPPORTED when this host cannot reach a tier; with
   *     UNKNOWN_DATANODE when all namenodes have forgotten it, and it does not come back; with
   *     CLOSED when the drain was cancelled
   */
  void run() throws CrailException, InterruptedException {
    while (!pass()) {
      lines.run();
    }
    for (Part part : parts) {
      if (part.lost) {
        throw ErrorCode.DATA_LOST.exception(
            "datanode "
                + name()
                + " fell silent before it was empty; 'crail fsck' names the files that have lost"
                + " bytes, 'crail fsck --repair' removes them; moved before: "
                + moved());
      }
    }
  }

  /** Visits all namenodes. Returns true when all have let the datanode go. */
  private boolean pass() throws CrailException, InterruptedException {
    passExtents = mover.extents();
    passNanos = System.nanoTime();
    mover.forgetRefusals();
    missing = "";
    foundExtent = false;
    int gone = 0;
    for (int index = 0; index < parts.length; index++) {
      if (passWithRetry(index)) {
        gone++;
        if (!parts[index].letGo && !parts[index].lost) {
          missing = cluster.name(index) + " does not know the datanode yet";
        }
      }
    }
    mover.finish();
    foundSome = foundExtent;
    held = mover.heldUpBy();
    if (mover.unsupported().isPresent()) {
      throw mover.unsupported().get();
    }
    if (gone < parts.length) {
      knownNanos = System.nanoTime();
    } else if (missing.isEmpty()) {
      return true;
    } else if (System.nanoTime() - knownNanos > cluster.silenceNanos() + FIND_NANOS) {
      throw forgotten();
    }
    if (mover.extents() == passExtents) {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    } else {
      movingNanos += System.nanoTime() - passNanos;
      passExtents = mover.extents();
    }
    return false;
  }

  /** A process that lives, and reaches its namenodes, would have found them again. */
  private CrailException forgotten() {
    return ErrorCode.UNKNOWN_DATANODE.exception(
        name()
            + ": no namenode has known it for "
            + TimeUnit.NANOSECONDS.toSeconds(cluster.silenceNanos() + FIND_NANOS)
            + " s; see that its process has ended: if it comes back, it gets data again");
  }

  /**
   * Moves what one namenode has there. A namenode that cannot be reached, or that restarts
   * meanwhile, is asked again in the next pass. Returns true when the datanode is not there any
   * more.
   */
  private boolean passWithRetry(int index) throws CrailException, InterruptedException {
    try {
      look(index);
      if (parts[index].standing == DrainStanding.DRAINING) {
        move(index);
        return false;
      }
      return true;
    } catch (CrailException e) {
      if (!MissingNamenode.isDown(e.code()) && e.code() != ErrorCode.UNKNOWN_DATANODE) {
        throw e;
      }
      missing = cluster.name(index) + ": " + e.getMessage();
      return false;
    }
  }

  private void move(int index) throws CrailException, InterruptedException {
    Part part = parts[index];
    mover.beginPart();
    cluster.extents(
        index,
        part.id,
        placed -> {
          foundExtent = true;
          if (mover.isFailing()) {
            // Each one takes space for a while, and the next one may fail too.
            held = mover.heldUpBy();
            lines.run();
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
          }
          mover.move(
              placed,
              BeginMove.ANY_DATANODE,
              length -> {
                part.usedBytes -= length;
                part.restingBytes += length;
              });
          return mover.unsupported().isEmpty();
        });
  }

  private String progress() {
    StringBuilder text = new StringBuilder("moved ").append(moved());
    boolean moves = mover.extents() > passExtents;
    long nanos = movingNanos + (moves ? System.nanoTime() - passNanos : 0);
    if (foundSome && nanos > 0) {
      text.append(", ").append(ByteText.of((long) (mover.bytes() * 1e9 / nanos))).append("/s");
    }
    boolean waits = !foundSome && held.isEmpty() && missing.isEmpty();
    if (!waits) {
      text.append("; ").append(ByteText.of(leftBytes())).append(" left");
    }
    if (!missing.isEmpty()) {
      text.append("; ").append(missing);
    }
    if (!held.isEmpty()) {
      text.append("; ").append(held);
    } else if (waits) {
      text.append("; all is moved, ")
          .append(ByteText.of(restingBytes()))
          .append(" rest until no client may read there any more");
    }
    return text.toString();
  }
}

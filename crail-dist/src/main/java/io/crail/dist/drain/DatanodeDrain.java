/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.drain;

import io.crail.common.ByteText;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.dist.report.DatanodeReport;
import io.crail.dist.report.ProgressLines;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.part.DatanodeState;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Empties one datanode, in passes over the namenodes. Used by one thread. */
final class DatanodeDrain {
  /** Between two passes that have moved nothing. */
  private static final long PAUSE_MILLIS = 1000;

  /** What a datanode may need to find a namenode that has restarted, beside its signs of life. */
  private static final long FIND_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int UNKNOWN = -1;

  private final MoveCluster cluster;
  private final DatanodeReport datanode;
  private final ExtentMover mover;
  private final ProgressLines lines;

  /** The datanode's id at each namenode, as far as it is known there. */
  private final int[] ids;

  /** Bytes in use, for each namenode. */
  private final long[] left;

  /** The namenodes that have said that they empty it, and the starts of them that have. */
  private final boolean[] drains;

  private final long[] incarnations;

  /** The namenodes that have let it end, and those that have lost bytes there. */
  private final boolean[] ended;

  private final boolean[] lost;

  /** The ids at the present namenode under which the datanode was lost. */
  private final List<Integer> lostIds = new ArrayList<>();

  private final long beginNanos = System.nanoTime();

  /** When it was last known somewhere, or a namenode did not answer. */
  private long knownNanos = beginNanos;

  /** Why a namenode has no part in the present pass; empty if all have. */
  private String missing = "";

  /** Whether the last pass has found an extent, and what has held it up. */
  private boolean foundSome = true;

  private boolean foundExtent;

  private String held = "";

  DatanodeDrain(MoveCluster cluster, DatanodeReport datanode, long bandwidth, PrintStream out) {
    this.cluster = cluster;
    this.datanode = datanode;
    this.lines = new ProgressLines(out, this::progress);
    this.mover = new ExtentMover(cluster.connections(), cluster.transferNanos(), bandwidth, lines);
    this.ids = new int[cluster.count()];
    this.left = new long[cluster.count()];
    this.drains = new boolean[cluster.count()];
    this.incarnations = new long[cluster.count()];
    this.ended = new boolean[cluster.count()];
    this.lost = new boolean[cluster.count()];
    Arrays.fill(ids, UNKNOWN);
  }

  /** The address of the datanode. */
  String name() {
    return datanode.address();
  }

  /** The bytes that are still in use. */
  long leftBytes() {
    return Arrays.stream(left).sum();
  }

  /** What was moved, in a few words. */
  String moved() {
    return ByteText.of(mover.bytes()) + " in " + mover.extents() + " extents";
  }

  /**
   * Lets the datanode give out no more space, wherever a namenode answers; {@link #run} asks the
   * others.
   */
  void begin() throws CrailException, InterruptedException {
    CrailException down = null;
    for (int index = 0; index < cluster.count(); index++) {
      try {
        look(index);
      } catch (CrailException e) {
        if (!MissingNamenode.isDown(e.code())) {
          throw e;
        }
        down = e;
      }
    }
    if (down != null && !anyDrains()) {
      throw down;
    }
  }

  private boolean anyDrains() {
    for (boolean each : drains) {
      if (each) {
        return true;
      }
    }
    return false;
  }

  /** How the datanode stands at a namenode. */
  private enum Standing {
    /** It is there, and empties. */
    THERE,
    /** It was lost there. */
    LOST,
    /** It is not known there. */
    UNKNOWN
  }

  /**
   * Looks how the datanode stands at a namenode, and takes it out of service where it is not. A
   * restarted namenode may have forgotten that.
   *
   * @throws CrailException with UNAVAILABLE while it is silent
   */
  private Standing look(int index) throws CrailException, InterruptedException {
    left[index] = 0;
    lostIds.clear();
    Standing standing = Standing.UNKNOWN;
    long incarnation = cluster.incarnation(index);
    for (ReportDatanodes.Datanode each : cluster.datanodes(index)) {
      if (!new UUID(each.uuidHigh(), each.uuidLow()).equals(datanode.uuid())) {
        continue;
      }
      if (each.state() == DatanodeState.LOST) {
        // It may have registered again since, as another entry.
        lostIds.add(each.id());
        standing = standing == Standing.THERE ? standing : Standing.LOST;
        continue;
      }
      ids[index] = each.id();
      left[index] = each.usedBytes() + each.waitingBytes();
      if (each.state() == DatanodeState.OFFLINE) {
        throw ErrorCode.UNAVAILABLE.exception(
            "datanode " + name() + " is silent; 'crail removeDatanode' gives its data up");
      }
      if (!each.draining()) {
        RemoveDatanode.Request request =
            new RemoveDatanode.Request(false, datanode.port(), Utf8.of(datanode.host()));
        left[index] = cluster.ask(index, NameNodeOperations.REMOVE_DATANODE, request).usedBytes();
      }
      drains[index] = true;
      incarnations[index] = incarnation;
      standing = Standing.THERE;
    }
    // One that has restarted may have forgotten it, and hear of it again.
    boolean same =
        drains[index]
            && incarnations[index] == incarnation
            && incarnation == cluster.incarnation(index);
    ended[index] = standing == Standing.UNKNOWN && (same || ended[index]);
    return standing;
  }

  /**
   * Moves everything, and waits until each namenode has let the datanode end.
   *
   * @throws CrailException with DATA_LOST when the datanode was lost before, wherever that was,
   *     once the rest is moved; with UNSUPPORTED when this host cannot reach a tier; with
   *     UNKNOWN_DATANODE when all namenodes have forgotten it, and it does not come back
   */
  void run() throws CrailException, InterruptedException {
    while (true) {
      long before = mover.extents();
      mover.forgetRefusals();
      missing = "";
      foundExtent = false;
      int gone = 0;
      for (int index = 0; index < cluster.count(); index++) {
        Standing standing = passWithRetry(index);
        gone += standing == Standing.THERE ? 0 : 1;
        if (standing == Standing.UNKNOWN && !ended[index]) {
          missing = cluster.name(index) + " does not know the datanode yet";
        }
      }
      mover.finish();
      foundSome = foundExtent;
      held = mover.heldUpBy();
      if (mover.unsupported().isPresent()) {
        throw mover.unsupported().get();
      }
      if (gone < cluster.count()) {
        knownNanos = System.nanoTime();
      } else if (missing.isEmpty()) {
        break;
      } else if (System.nanoTime() - knownNanos > cluster.silenceNanos() + FIND_NANOS) {
        throw forgotten();
      }
      lines.run();
      if (mover.extents() == before) {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
    for (int index = 0; index < cluster.count(); index++) {
      if (lost[index]) {
        throw ErrorCode.DATA_LOST.exception(
            "datanode "
                + name()
                + " fell silent before it was empty; 'crail fsck' names the files that have lost"
                + " bytes; moved before: "
                + moved());
      }
    }
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
   * As {@link #pass}; a namenode that cannot be reached, or that restarts meanwhile, is asked again
   * in the next pass.
   */
  private Standing passWithRetry(int index) throws CrailException, InterruptedException {
    try {
      return pass(index);
    } catch (CrailException e) {
      if (!MissingNamenode.isDown(e.code()) && e.code() != ErrorCode.UNKNOWN_DATANODE) {
        throw e;
      }
      missing = cluster.name(index) + ": " + e.getMessage();
      return Standing.THERE;
    }
  }

  /** Moves what one namenode has there. */
  private Standing pass(int index) throws CrailException, InterruptedException {
    Standing standing = look(index);
    for (int each : lostIds) {
      if (!lost[index]) {
        cluster.extents(
            index,
            each,
            placed -> {
              lost[index] = true;
              return false;
            });
      }
    }
    if (standing != Standing.THERE) {
      return standing;
    }
    mover.beginPart();
    cluster.extents(
        index,
        ids[index],
        placed -> {
          foundExtent = true;
          if (mover.isFailing()) {
            // Each one takes space for a while, and the next one may fail too.
            held = mover.heldUpBy();
            lines.run();
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
          }
          mover.move(placed, BeginMove.ANY_DATANODE, length -> left[index] -= length);
          return mover.unsupported().isEmpty();
        });
    return standing;
  }

  private String progress() {
    long nanos = Math.max(1, System.nanoTime() - beginNanos);
    StringBuilder text = new StringBuilder("moved ").append(moved());
    text.append(", ").append(ByteText.of((long) (mover.bytes() * 1e9 / nanos))).append("/s; ");
    text.append(ByteText.of(Math.max(0, leftBytes()))).append(" left");
    if (!missing.isEmpty()) {
      text.append("; ").append(missing);
    }
    if (!held.isEmpty()) {
      text.append("; ").append(held);
    } else if (!foundSome) {
      text.append("; all is moved, waiting until no client may read there any more");
    }
    return text.toString();
  }
}

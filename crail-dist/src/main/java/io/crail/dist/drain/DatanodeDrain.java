/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.drain;

import io.crail.common.ByteText;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.dist.report.DatanodeReport;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.part.DatanodeState;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Empties one datanode, in passes over the namenodes. Used by one thread. */
final class DatanodeDrain {
  /** Between two passes that have moved nothing. */
  private static final long PAUSE_MILLIS = 1000;

  private static final int UNKNOWN = -1;

  private final MoveCluster cluster;
  private final DatanodeReport datanode;
  private final ExtentMover mover;
  private final ProgressLines lines;

  /** The datanode's id at each namenode, as far as it is known there. */
  private final int[] ids;

  /** Bytes in use, for each namenode. */
  private final long[] left;

  private final long beginNanos = System.nanoTime();

  /** Why a namenode has no part in the present pass; empty if all have. */
  private String missing = "";

  /** Whether the last pass has found an extent, and what has held it up. */
  private boolean foundSome = true;

  private String held = "";

  DatanodeDrain(MoveCluster cluster, DatanodeReport datanode, long bandwidth, PrintStream out) {
    this.cluster = cluster;
    this.datanode = datanode;
    this.lines = new ProgressLines(out, this::progress);
    this.mover = new ExtentMover(cluster.connections(), cluster.transferNanos(), bandwidth, lines);
    this.ids = new int[cluster.count()];
    this.left = new long[cluster.count()];
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

  /** Lets the datanode give out no more space. */
  void begin() throws CrailException, InterruptedException {
    for (int index = 0; index < cluster.count(); index++) {
      look(index);
    }
  }

  /**
   * Looks how the datanode stands at a namenode, and takes it out of service where it is not. A
   * restarted namenode may have forgotten that.
   *
   * @return false when it is not there, or not any more
   */
  private boolean look(int index) throws CrailException, InterruptedException {
    left[index] = 0;
    for (ReportDatanodes.Datanode each : cluster.datanodes(index)) {
      if (!new UUID(each.uuidHigh(), each.uuidLow()).equals(datanode.uuid())) {
        continue;
      }
      ids[index] = each.id();
      if (each.state() == DatanodeState.LOST) {
        return false;
      }
      left[index] = each.usedBytes() + each.waitingBytes();
      if (each.state() == DatanodeState.ONLINE) {
        RemoveDatanode.Request request =
            new RemoveDatanode.Request(datanode.port(), Utf8.of(datanode.host()));
        left[index] = cluster.ask(index, NameNodeOperations.REMOVE_DATANODE, request).usedBytes();
      }
      return true;
    }
    return false;
  }

  /**
   * Moves everything, and waits until the datanode is empty.
   *
   * @throws CrailException with DATA_LOST when the datanode was lost before
   */
  void run() throws CrailException, InterruptedException {
    while (true) {
      long before = mover.extents();
      mover.forgetRefusals();
      missing = "";
      boolean found = false;
      for (int index = 0; index < cluster.count(); index++) {
        found |= passWithRetry(index);
      }
      mover.finish();
      foundSome = found;
      held = mover.heldUpBy();
      if (!found && missing.isEmpty() && leftBytes() == 0) {
        return;
      }
      lines.run();
      if (mover.extents() == before) {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
  }

  /** As {@link #pass}; a namenode that cannot be reached is asked again in the next pass. */
  private boolean passWithRetry(int index) throws CrailException, InterruptedException {
    try {
      return pass(index);
    } catch (CrailException e) {
      if (e.code() != ErrorCode.UNAVAILABLE && e.code() != ErrorCode.TIMED_OUT) {
        throw e;
      }
      missing = cluster.name(index) + ": " + e.getMessage();
      return false;
    }
  }

  /** Moves what one namenode has there; false when there is nothing. */
  private boolean pass(int index) throws CrailException, InterruptedException {
    boolean gone = !look(index);
    if (ids[index] == UNKNOWN) {
      return false;
    }
    long[] found = {0};
    cluster.extents(
        index,
        ids[index],
        placed -> {
          found[0]++;
          mover.move(placed, BeginMove.ANY_DATANODE, length -> left[index] -= length);
          return true;
        });
    if (gone && found[0] > 0) {
      throw ErrorCode.DATA_LOST.exception(
          "datanode "
              + name()
              + " fell silent before it was empty; 'crail fsck' names the files that have lost"
              + " bytes; moved before: "
              + moved());
    }
    return found[0] > 0;
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

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.ByteText;
import io.crail.common.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Regions whose space is not given out yet, ordered by the time from which it will be. Another
 * namenode, or this one before a restart, may have given out space of them. The same holds for what
 * is free at datanodes after a start that has lost the last changes. Thread-safe.
 */
final class RestingRegions {
  /** A region whose space is not given out yet. */
  private record Resting(DatanodeSpace datanode, RegionSpace region, long readyNanos) {}

  /** A datanode whose free space is not given out before clients are cut off from it. */
  private static final class Held {
    private final DatanodeSpace datanode;
    private final CutOffs cutOffs;
    private final Set<Long> clients;
    private final long readyNanos;
    private boolean isOrdered;

    Held(DatanodeSpace datanode, CutOffs cutOffs, Set<Long> clients, long readyNanos) {
      this.datanode = datanode;
      this.cutOffs = cutOffs;
      this.clients = clients;
      this.readyNanos = readyNanos;
    }

    boolean isOver(long nowNanos) {
      if (datanode.state() == DatanodeSpace.State.DEAD) {
        return true;
      }
      if (nowNanos - readyNanos < 0) {
        return false;
      }
      if (!isOrdered) {
        // Not earlier, since what a client begins after its cut-off needs another one.
        isOrdered = true;
        clients.forEach(client -> cutOffs.order(client, nowNanos));
      }
      clients.retainAll(cutOffs.clients());
      return clients.isEmpty();
    }
  }

  private final Clock clock;
  private final List<Held> held = new ArrayList<>();
  private final PriorityQueue<Resting> resting =
      new PriorityQueue<>((a, b) -> Long.signum(a.readyNanos - b.readyNanos));

  RestingRegions(Clock clock) {
    this.clock = clock;
  }

  /** Holds back a region for this time. */
  synchronized void add(DatanodeSpace datanode, RegionSpace region, long restNanos) {
    resting.add(new Resting(datanode, region, clock.nanoTime() + restNanos));
  }

  /**
   * Holds back what is free at a datanode, if clients may have got it by changes that are lost.
   *
   * @param records what was replayed
   * @param cutOffs of the datanode
   */
  synchronized void hold(
      DatanodeSpace datanode, long restNanos, FreedByRecords records, CutOffs cutOffs) {
    Collection<Long> clients = records.clientsAfterLoss(restNanos);
    if (clients != null && datanode.state() != DatanodeSpace.State.DEAD) {
      datanode.hold(true);
      Set<Long> toCutOff = new HashSet<>(datanode.cutsOff() ? clients : Set.of());
      held.add(new Held(datanode, cutOffs, toCutOff, clock.nanoTime() + restNanos));
    }
  }

  /** Releases the regions and datanodes whose time has come. Returns their number. */
  synchronized int wake(long nowNanos) {
    int count = 0;
    for (int i = held.size() - 1; i >= 0; i--) {
      if (held.get(i).isOver(nowNanos)) {
        held.remove(i).datanode.hold(false);
        count++;
      }
    }
    while (!resting.isEmpty() && nowNanos - resting.peek().readyNanos >= 0) {
      Resting next = resting.remove();
      next.datanode.wake(next.region);
      count++;
    }
    return count;
  }

  /** Describes the space of some datanodes that will become free by itself; may be empty. */
  synchronized String prospect(Predicate<DatanodeSpace> datanodes) {
    long bytes = 0;
    long last = clock.nanoTime();
    long now = last;
    for (Held each : held) {
      if (datanodes.test(each.datanode)) {
        bytes += each.datanode.freeBytes();
        last = each.readyNanos - last > 0 ? each.readyNanos : last;
      }
    }
    for (Resting each : resting) {
      if (datanodes.test(each.datanode)) {
        bytes += each.region.region().length();
        last = each.readyNanos - last > 0 ? each.readyNanos : last;
      }
    }
    return bytes == 0
        ? ""
        : "; "
            + ByteText.of(bytes)
            + " that were in use before this namenode got them come within "
            + (last - now) / 1_000_000
            + " ms";
  }
}

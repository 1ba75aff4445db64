/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.ByteText;
import io.crail.common.Clock;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
    private final Set<Long> clients = new HashSet<>();
    private final Set<Long> uncut = new HashSet<>();
    private long readyNanos;
    private boolean isOrdered;

    boolean isOver(CutOffs cutOffs, long nowNanos) {
      if (nowNanos - readyNanos < 0) {
        return false;
      }
      if (!isOrdered) {
        // Not earlier, since what a client begins after its cut-off needs another one.
        isOrdered = true;
        uncut.addAll(clients);
        uncut.forEach(client -> cutOffs.order(client, nowNanos));
      }
      uncut.retainAll(cutOffs.clients());
      return uncut.isEmpty();
    }
  }

  private final Clock clock;
  private final Map<DatanodeSpace, Held> held = new HashMap<>();
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
   * Holds back what is free at a datanode until {@link #release}, if it lives, since clients may
   * have got it by changes that are lost. For a replay.
   *
   * @param clients those that the datanode has to cut off, besides those of earlier calls
   */
  synchronized void hold(DatanodeSpace datanode, Collection<Long> clients) {
    if (datanode.state() != DatanodeSpace.State.DEAD) {
      datanode.hold(true);
      Held each = held.computeIfAbsent(datanode, any -> new Held());
      each.clients.addAll(datanode.cutsOff() ? clients : Set.of());
    }
  }

  /** The replay is over: from now on, what was begun before ends within this time. */
  synchronized void beginToHold(DatanodeSpace datanode, long restNanos) {
    Held each = held.get(datanode);
    if (each != null) {
      each.readyNanos = clock.nanoTime() + restNanos;
    }
  }

  /** Whether what is held back at a datanode is in the hands of no client any more. */
  synchronized boolean isToBeReleased(DatanodeSpace datanode, CutOffs cutOffs, long nowNanos) {
    Held each = held.get(datanode);
    return each != null && each.isOver(cutOffs, nowNanos);
  }

  /** Gives out what was held back. */
  synchronized void release(DatanodeSpace datanode) {
    if (held.remove(datanode) != null) {
      datanode.hold(false);
    }
  }

  /** The clients because of which a datanode's free space is held back; null if it is not. */
  synchronized List<Long> heldFor(DatanodeSpace datanode) {
    Held each = held.get(datanode);
    return each == null ? null : List.copyOf(each.clients);
  }

  /** Releases the regions whose time has come. Returns their number. */
  synchronized int wake(long nowNanos) {
    int count = 0;
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
    for (Map.Entry<DatanodeSpace, Held> each : held.entrySet()) {
      if (datanodes.test(each.getKey())) {
        bytes += each.getKey().freeBytes();
        long ready = each.getValue().readyNanos;
        last = ready - last > 0 ? ready : last;
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

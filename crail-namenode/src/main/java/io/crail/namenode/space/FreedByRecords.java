/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.space.NodeSpace.Allocation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What records have freed lately, while they are replayed. It may be taken again at once, since the
 * records say when that has happened. What nodes do not have at the end rests, as clients may still
 * access it. For one thread.
 */
final class FreedByRecords {
  /**
   * An extent that was freed.
   *
   * @param writer the client that may still write to it; null for none
   */
  record Freed(Allocation extent, Quarantine.Writer writer, long sinceNanos) {}

  /** A region whose space was not given out yet. */
  record Resting(DatanodeSpace datanode, RegionSpace region, long restNanos, long sinceNanos) {
    boolean isOver(long nowNanos) {
      return nowNanos - sinceNanos > restNanos;
    }
  }

  private final long leaseNanos;
  private final long marginNanos;
  private final ArrayDeque<Freed> freed = new ArrayDeque<>();
  private final List<Resting> resting = new ArrayList<>();
  private long nanos;

  /**
   * Creates an empty list.
   *
   * @param marginNanos how long space rests after the end of a lease, unless its tier says more
   */
  FreedByRecords(long leaseNanos, long marginNanos) {
    this.leaseNanos = leaseNanos;
    this.marginNanos = marginNanos;
  }

  /** Notes when the next changes were made, and forgets what had rested by then. */
  void at(long nowNanos) {
    nanos = Math.max(nanos, nowNanos);
    while (!freed.isEmpty() && nanos - freed.peekFirst().sinceNanos > restOf(freed.peekFirst())) {
      freed.removeFirst();
    }
    resting.removeIf(
        each -> {
          boolean isOver = each.isOver(nanos);
          if (isOver) {
            each.datanode.wake(each.region);
          }
          return isOver;
        });
  }

  /** Holds back a region until a node has space of it, or its time has passed. */
  void rest(DatanodeSpace datanode, RegionSpace region, long restNanos) {
    resting.add(new Resting(datanode, region, restNanos, nanos));
  }

  /** The regions that still rest. */
  List<Resting> resting() {
    return resting.stream().filter(each -> each.datanode.isResting(each.region)).toList();
  }

  private long restOf(Freed each) {
    return leaseNanos + each.extent.datanode().marginNanos(marginNanos);
  }

  /**
   * Frees an extent of a node.
   *
   * @param writer the client that may still write to it; null for none
   * @param mayBeAccessed whether a client may, also where the datanode checks generations
   */
  void free(Allocation extent, Quarantine.Writer writer, boolean mayBeAccessed) {
    extent.free();
    if (mayBeAccessed) {
      add(extent, writer);
    }
  }

  /** Notes that a client may access an extent, which is free. */
  void add(Allocation extent, Quarantine.Writer writer) {
    freed.addLast(new Freed(extent, writer, nanos));
  }

  /**
   * All of it, the latest first. Of what was freed earlier, a part may have been taken and freed
   * again: then it had rested as a whole, and is not free as a whole any more.
   */
  List<Freed> latestFirst() {
    List<Freed> extents = new ArrayList<>(freed);
    Collections.reverse(extents);
    return extents;
  }
}

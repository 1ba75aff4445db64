/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.Clock;
import java.util.PriorityQueue;
import java.util.function.Predicate;

/**
 * Regions of which no space is given out yet, by the time from which it is: another namenode, or
 * the one before a restart, may have given space of them. Thread-safe.
 */
final class RestingRegions {
  /** A region of which no space is given out yet. */
  private record Resting(RegionSpace region, long readyNanos) {}

  private final Clock clock;
  private final PriorityQueue<Resting> resting =
      new PriorityQueue<>((a, b) -> Long.signum(a.readyNanos - b.readyNanos));

  RestingRegions(Clock clock) {
    this.clock = clock;
  }

  /** Keeps a region back for so long. */
  synchronized void add(RegionSpace region, long restNanos) {
    resting.add(new Resting(region, clock.nanoTime() + restNanos));
  }

  /** Lets those go whose time has come; how many. */
  synchronized int wake(long nowNanos) {
    int count = 0;
    while (!resting.isEmpty() && nowNanos - resting.peek().readyNanos >= 0) {
      RegionSpace region = resting.remove().region;
      region.datanode().wake(region);
      count++;
    }
    return count;
  }

  /** Says what space of some datanodes comes by itself; may be empty. */
  synchronized String prospect(Predicate<DatanodeSpace> datanodes) {
    long bytes = 0;
    long last = clock.nanoTime();
    long now = last;
    for (Resting each : resting) {
      if (datanodes.test(each.region.datanode())) {
        bytes += each.region.region().length();
        last = each.readyNanos - last > 0 ? each.readyNanos : last;
      }
    }
    return bytes == 0
        ? ""
        : "; "
            + bytes
            + " bytes that were in use before this namenode got them come within "
            + (last - now) / 1_000_000
            + " ms";
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.ByteText;
import io.crail.common.Clock;
import java.util.PriorityQueue;
import java.util.function.Predicate;

/**
 * Regions whose space is not given out yet, ordered by the time from which it will be. Another
 * namenode, or this one before a restart, may have given out space of them. Thread-safe.
 */
final class RestingRegions {
  /** A region whose space is not given out yet. */
  private record Resting(DatanodeSpace datanode, RegionSpace region, long readyNanos) {}

  private final Clock clock;
  private final PriorityQueue<Resting> resting =
      new PriorityQueue<>((a, b) -> Long.signum(a.readyNanos - b.readyNanos));

  RestingRegions(Clock clock) {
    this.clock = clock;
  }

  /** Holds back a region for this time. */
  synchronized void add(DatanodeSpace datanode, RegionSpace region, long restNanos) {
    resting.add(new Resting(datanode, region, clock.nanoTime() + restNanos));
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

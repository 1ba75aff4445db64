/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.space.NodeSpace.Allocation;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * Space that records have made free. Its next owner may overwrite it, so where answers do not wait
 * for their records, it waits until its own is durable: whatever a crash loses, no node that is
 * there afterwards has lost its bytes to another one. Thread-safe.
 */
public final class ReturnedSpace {
  /** The records of a namenode, whose answers do not wait for them. */
  public interface Records {
    /** The number of the last one. */
    long last();

    /** The number of the last one that is durable, with all before it. */
    long durable();
  }

  private record Returned(Allocation extent, long number) {}

  /** In the order of their numbers. */
  private final ArrayDeque<Returned> waiting = new ArrayDeque<>();

  // Set before anything is served. Null if answers wait.
  private Records records;

  ReturnedSpace() {}

  /** Lets space wait for records from now on. Before anything is served. */
  void waitFor(Records newRecords) {
    records = newRecords;
  }

  /** Takes space back that belonged to a node. */
  void free(Allocation extent) {
    if (records == null) {
      extent.free();
      return;
    }
    extent.datanode().countAsWaiting(extent.allocatedLength());
    add(extent);
  }

  /** Takes space back that was waiting. */
  void freeAwaited(Allocation extent) {
    if (records == null) {
      extent.freeAwaited();
    } else {
      add(extent);
    }
  }

  private synchronized void add(Allocation extent) {
    waiting.addLast(new Returned(extent, records.last()));
  }

  /**
   * Lets space be given out whose records are durable.
   *
   * @return how many extents that were, {@code most} at most
   */
  int reclaim(int most) {
    int count = 0;
    for (Allocation next = records == null ? null : poll(); next != null; next = poll()) {
      next.freeAwaited();
      if (++count == most) {
        break;
      }
    }
    return count;
  }

  private synchronized Allocation poll() {
    Returned first = waiting.peekFirst();
    return first == null || first.number > records.durable() ? null : waiting.pollFirst().extent;
  }

  /** The number of extents that wait. */
  synchronized int extents() {
    return waiting.size();
  }

  /** Visits the extents that wait. */
  synchronized void forEach(Consumer<Allocation> visitor) {
    waiting.forEach(each -> visitor.accept(each.extent));
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.memory.Footprint;
import io.crail.namenode.memory.HeapBudget;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The nodes of puts that are to replace values which are still there. Such a node has the parent
 * and the name of the node that it is to replace, but is found by its id only. An entry is made,
 * and its node takes its place, under the parent's monitor. A thread that removes an entry in
 * between has to destroy its node. Thread-safe.
 */
public final class PendingNodes {
  /** Bytes of heap of an entry. */
  private static final long FOOTPRINT = Footprint.MAP_ENTRY + Footprint.object(1, Long.BYTES);

  /**
   * A node that is to come.
   *
   * @param length the bytes of its whole value
   */
  private record Pending(Node node, long length) {}

  private final ConcurrentHashMap<Node, Pending> ofPresent = new ConcurrentHashMap<>();

  // At least the entries of the map. Unlike the map's own size it never misses one, so it may
  // answer for the map. Most puts replace a node when no other put is under way.
  private final AtomicInteger most = new AtomicInteger();
  private final HeapBudget budget;

  PendingNodes(HeapBudget budget) {
    this.budget = budget;
  }

  /** Bytes of heap of all entries. */
  long bytes() {
    return ofPresent.size() * FOOTPRINT;
  }

  int size() {
    return ofPresent.size();
  }

  /** The node that is to replace a node, or null. */
  public Node of(Node present) {
    Pending pending = most.get() == 0 ? null : ofPresent.get(present);
    return pending == null ? null : pending.node;
  }

  /** Bytes of the whole value of the node that is to replace {@code present}. */
  public long length(Node present) {
    return ofPresent.get(present).length;
  }

  /**
   * Notes that a node is to replace another. Under the parent's monitor.
   *
   * @return the node that was to replace it until now, or null
   */
  Node put(Node present, Node node, long length) {
    // Bounded, since both nodes were admitted.
    budget.add(FOOTPRINT);
    most.incrementAndGet();
    return removed(ofPresent.put(present, new Pending(node, length)));
  }

  /** Removes and returns the node that is to replace a node; null when there is none. */
  Node remove(Node present) {
    return most.get() == 0 ? null : removed(ofPresent.remove(present));
  }

  private Node removed(Pending pending) {
    if (pending == null) {
      return null;
    }
    most.decrementAndGet();
    budget.give(FOOTPRINT);
    return pending.node;
  }
}

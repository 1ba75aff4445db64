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
 * between has to destroy its node. Staged nodes are only counted here: each ends with its lease, so
 * there is none to look for. Thread-safe.
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
  private final ConcurrentHashMap<Node, Integer> stagedIn = new ConcurrentHashMap<>();
  private final HeapBudget budget;

  PendingNodes(HeapBudget budget) {
    this.budget = budget;
  }

  /** Bytes of heap of all entries. */
  long bytes() {
    return (ofPresent.size() + stagedIn.size()) * FOOTPRINT;
  }

  /** The number of nodes that no name leads to yet. */
  int size() {
    return ofPresent.size() + stagedIn.values().stream().mapToInt(count -> count).sum();
  }

  /**
   * Counts a node that is staged, under the monitor of its parent, or with -1 one that is so no
   * longer.
   */
  void countStaged(Node node, int more) {
    stagedIn.compute(
        node.parent(),
        (parent, count) -> {
          int now = (count == null ? 0 : count) + more;
          budget.add(count == null ? FOOTPRINT : 0);
          budget.give(now == 0 ? FOOTPRINT : 0);
          return now == 0 ? null : now;
        });
  }

  /**
   * True when nothing in a container takes space: it has no children, and nothing is staged in it.
   * Under its monitor.
   */
  public boolean isEmpty(Container container) {
    return container.childCount() == 0 && !stagedIn.containsKey(container);
  }

  /** Whether any node is staged. */
  public boolean isAnyStaged() {
    return !stagedIn.isEmpty();
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

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.memory.HeapBudget;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The {@link NodeExtras} of the few nodes that have them, so that others need no field for them.
 * Thread-safe; what belongs to one node changes under its monitor.
 */
public final class ExtrasTable {
  private final Map<Node, NodeExtras> ofNodes = new ConcurrentHashMap<>();
  private final HeapBudget budget;

  ExtrasTable(HeapBudget budget) {
    this.budget = budget;
  }

  /** Those of a node. */
  public NodeExtras of(Node node) {
    return node.hasExtras() ? ofNodes.getOrDefault(node, NodeExtras.NONE) : NodeExtras.NONE;
  }

  /** Bytes of heap of those of a node. */
  public long footprint(Node node) {
    NodeExtras extras = node.hasExtras() ? ofNodes.get(node) : null;
    return extras == null ? 0 : extras.footprint();
  }

  /** Sets those of a node, for which heap was taken, and gives back that of the former ones. */
  void put(Node node, NodeExtras extras) {
    NodeExtras former = ofNodes.put(node, extras);
    node.extended();
    if (former != null) {
      budget.give(former.footprint());
    }
  }

  /** Sets those of a node that take as much heap as the former ones. */
  void renew(Node node, NodeExtras extras) {
    ofNodes.put(node, extras);
  }

  /** Removes those of a node that is gone. */
  void remove(Node node) {
    NodeExtras former = node.hasExtras() ? ofNodes.remove(node) : null;
    if (former != null) {
      budget.give(former.footprint());
    }
  }
}

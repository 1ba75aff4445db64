/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Clock;
import io.crail.namenode.memory.HeapBudget;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The {@link NodeExtras} of the few nodes that have them, so that others need no field for them.
 * Thread-safe; what belongs to one node changes under its monitor.
 */
public final class ExtrasTable {
  private final Map<Node, NodeExtras> ofNodes = new ConcurrentHashMap<>();
  private final Expiries expiries = new Expiries();
  private final HeapBudget budget;

  ExtrasTable(HeapBudget budget) {
    this.budget = budget;
  }

  /** Those of a node. */
  public NodeExtras of(Node node) {
    return node.hasExtras() ? ofNodes.getOrDefault(node, NodeExtras.NONE) : NodeExtras.NONE;
  }

  /** Notes an access to a node with extras, which may put its end off. */
  public void accessed(Node node, Clock clock) {
    if (of(node).idleMillis() > 0) {
      node.accessed(clock.currentTimeMillis());
    }
  }

  /** Which nodes end, and when. */
  public Expiries expiries() {
    return expiries;
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
    expiries.set(node, end(former), extras.endMillis());
    if (former != null) {
      budget.give(former.footprint());
    }
  }

  /** Sets those of a node that take as much heap as the former ones. */
  void renew(Node node, NodeExtras extras) {
    expiries.set(node, end(ofNodes.put(node, extras)), extras.endMillis());
  }

  /** Removes those of a node that is gone. */
  void remove(Node node) {
    NodeExtras former = node.hasExtras() ? ofNodes.remove(node) : null;
    if (former != null) {
      expiries.set(node, former.endMillis(), 0);
      budget.give(former.footprint());
    }
  }

  private static long end(NodeExtras extras) {
    return extras == null ? 0 : extras.endMillis();
  }
}

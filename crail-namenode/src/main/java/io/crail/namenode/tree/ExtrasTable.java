/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Clock;
import io.crail.namenode.memory.HeapBudget;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The {@link NodeExtras} of the few nodes that have them, so that others need no field for them.
 * Thread-safe. What belongs to one node changes under its monitor; that of a node that is gone is
 * removed without it.
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

  /**
   * Notes an access to a node with extras, which may put its end off. This alone changes a node
   * without a lock, on the way of those who read: times of access have no order that matters.
   */
  public void accessed(Node node, Clock clock) {
    accessed(node, of(node), clock.currentTimeMillis());
  }

  /** As the other method, for extras that are at hand. */
  public void accessed(Node node, NodeExtras extras, long nowMillis) {
    if (extras.idleMillis() > 0 && node.accessedMillis() != nowMillis) {
      node.accessed(nowMillis);
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
    node.extended();
    ofNodes.compute(
        node,
        (key, former) -> {
          expiries.set(node, former == null ? 0 : former.endMillis(), extras.endMillis());
          budget.give(former == null ? 0 : former.footprint());
          return extras;
        });
  }

  /** Sets those of a node that take as much heap as the former ones, and have the same end. */
  void renew(Node node, NodeExtras extras) {
    ofNodes.replace(node, extras);
  }

  /** Puts the end of a node off; does nothing to one that is gone. */
  void putOff(Node node, long endMillis) {
    ofNodes.computeIfPresent(
        node,
        (key, former) -> {
          expiries.set(node, former.endMillis(), endMillis);
          return former.endingAt(endMillis);
        });
  }

  /** Removes those of a node that is gone. */
  void remove(Node node) {
    if (!node.hasExtras()) {
      return;
    }
    ofNodes.computeIfPresent(
        node,
        (key, former) -> {
          expiries.set(node, former.endMillis(), 0);
          budget.give(former.footprint());
          return null;
        });
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.memory.HeapBudget;

/** Finds a node by its id. Thread-safe as {@link NodeTable} says. */
public final class IdTable extends NodeTable {
  // The golden ratio spreads consecutive ids evenly over segments and slots.
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  IdTable(HeapBudget budget) {
    super(budget);
  }

  @Override
  long hash(Node node) {
    return hash(node.id());
  }

  @Override
  boolean sameKey(Node a, Node b) {
    return a.id() == b.id();
  }

  /** The node of an id, or null. */
  Node find(long id) {
    long key = hash(id);
    Node[] slots = slots(key);
    int index = firstIndex(slots, key);
    for (Node node = at(slots, index); node != null; node = at(slots, index)) {
      if (node.id() == id && node != Node.TOMBSTONE) {
        return node;
      }
      index = nextIndex(slots, index);
    }
    return null;
  }

  private static long hash(long id) {
    long product = id * GOLDEN;
    // The upper bits are well mixed, but the slot comes from the lower bits.
    return product & 0xff00000000000000L | (product >>> 20 & 0x00000000ffffffffL);
  }
}

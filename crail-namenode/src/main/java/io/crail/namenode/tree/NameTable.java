/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.name.NameHash;
import java.nio.ByteBuffer;

/** Finds a node by its parent and its name. Thread-safe as {@link NodeTable} says. */
public final class NameTable extends NodeTable {
  private final NameHash hash;

  NameTable(NameHash hash, HeapBudget budget) {
    super(budget);
    this.hash = hash;
  }

  /** How names are hashed. */
  public NameHash hash() {
    return hash;
  }

  @Override
  long hash(Node node) {
    return node.hash(hash);
  }

  @Override
  boolean sameKey(Node a, Node b) {
    return a.parent() == b.parent() && a.hasNameOf(b);
  }

  /** The node with the parent and the name of another, which need not be in the table; or null. */
  public Node namesake(Node other) {
    long key = hash(other);
    Node[] slots = slots(key);
    int index = firstIndex(slots, key);
    for (Node node = at(slots, index); node != null; node = at(slots, index)) {
      if (node != Node.TOMBSTONE && sameKey(node, other)) {
        return node;
      }
      index = nextIndex(slots, index);
    }
    return null;
  }

  /** The child of {@code parent} whose name is in {@code [start, end)}; null when there is none. */
  Node find(Container parent, ByteBuffer buffer, int start, int end) {
    long key = hash.of(parent.id(), buffer, start, end);
    Node[] slots = slots(key);
    int index = firstIndex(slots, key);
    for (Node node = at(slots, index); node != null; node = at(slots, index)) {
      if (node.isNamed(parent, buffer, start, end)) {
        return node;
      }
      index = nextIndex(slots, index);
    }
    return null;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import java.util.Comparator;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Predicate;

/**
 * The nodes whose lifetime is limited, in the order of their ends. A node that is removed costs
 * nothing any more. Thread-safe; one thread at a time changes the end of one node.
 */
public final class Expiries {
  private static final Comparator<Entry> BY_END =
      Comparator.comparingLong(Entry::endMillis).thenComparingLong(entry -> entry.node.id());

  private final ConcurrentSkipListSet<Entry> entries = new ConcurrentSkipListSet<>(BY_END);

  private record Entry(long endMillis, Node node) {}

  /** Changes the end of a node; 0 for none. */
  void set(Node node, long formerMillis, long endMillis) {
    if (formerMillis == endMillis) {
      return;
    }
    if (endMillis != 0) {
      entries.add(new Entry(endMillis, node));
    }
    if (formerMillis != 0) {
      entries.remove(new Entry(formerMillis, node));
    }
  }

  /** The number of nodes that will end. */
  public int size() {
    return entries.size();
  }

  /**
   * Visits the nodes whose time is over, first those that have been due for longest. Their ends may
   * change meanwhile, so that each has to be looked at again under its lock.
   *
   * @param visitor returns whether to go on
   */
  public void visitDue(long nowMillis, Predicate<Node> visitor) {
    for (Entry entry : entries) {
      if (entry.endMillis > nowMillis || !visitor.test(entry.node)) {
        return;
      }
    }
  }
}

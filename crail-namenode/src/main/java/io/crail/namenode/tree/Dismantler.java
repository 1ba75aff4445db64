/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes removed subtrees apart, a bounded piece at a time, so that removing a million nodes holds
 * nobody up. Nobody reaches these nodes any more; what is left is to forget their ids and to free
 * their space. Thread-safe.
 */
final class Dismantler {
  private static final int BATCH = 256;

  // Held for one batch at a time, and fair, so that who needs space gets a turn soon.
  private final ReentrantLock working = new ReentrantLock(true);
  private final ArrayDeque<Container> doomed = new ArrayDeque<>();
  private final Tree tree;

  Dismantler(Tree tree) {
    this.tree = tree;
  }

  /** Takes charge of a container that was marked as removed. */
  void add(Container container) {
    synchronized (doomed) {
      doomed.push(container);
    }
  }

  /**
   * Does some of the work, or waits for others to do a little of it.
   *
   * @param most about the most nodes
   * @return how many nodes there were
   */
  int run(int most) {
    int done = 0;
    int batch = 1;
    while (batch > 0 && done < most) {
      batch = takeBatch();
      done += batch;
    }
    return done;
  }

  private int takeBatch() {
    working.lock();
    try {
      Container next = first();
      return next == null ? 0 : Math.max(takeChildren(next), 1);
    } finally {
      working.unlock();
    }
  }

  private Container first() {
    synchronized (doomed) {
      return doomed.peek();
    }
  }

  /** Takes a batch of children from a container, which is done with when none is left. */
  private int takeChildren(Container container) {
    List<Node> batch = new ArrayList<>(BATCH);
    boolean empty;
    synchronized (container) {
      while (batch.size() < BATCH && container.childCount() > 0) {
        Node child = container.removeLast();
        tree.forget(child);
        batch.add(child);
      }
      empty = container.childCount() == 0;
    }
    if (empty) {
      synchronized (doomed) {
        doomed.remove(container);
      }
    }
    for (Node child : batch) {
      if (!(child instanceof Container)) {
        tree.destroy(child);
      } else if (markRemoved((Container) child)) {
        add((Container) child);
      }
    }
    return batch.size();
  }

  /** Marks a container, so that it gets no child from now on; true when it has some. */
  private static boolean markRemoved(Container container) {
    synchronized (container) {
      container.markRemoved();
      return container.childCount() > 0;
    }
  }
}

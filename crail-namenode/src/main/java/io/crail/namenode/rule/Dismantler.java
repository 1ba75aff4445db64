/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes removed subtrees apart, a bounded number of nodes at a time, so that the removal of a
 * million nodes delays no other request. No path leads to these nodes any more. Only their ids must
 * be forgotten and their space freed. Thread-safe.
 */
public final class Dismantler {
  private static final int BATCH = 256;

  // Held for one batch at a time, and fair, so that a thread that needs space gets its turn soon.
  private final ReentrantLock working = new ReentrantLock(true);
  private final ArrayDeque<Container> doomed = new ArrayDeque<>();
  private final Locks locks;
  private final Applier applier;

  public Dismantler(Locks locks, Applier applier) {
    this.locks = locks;
    this.applier = applier;
  }

  /** Adds a removed container that has children. */
  void add(Container container) {
    synchronized (doomed) {
      doomed.push(container);
    }
  }

  /**
   * Does some of the work, or waits until other threads have done some.
   *
   * @param most the most nodes, approximately
   * @return the number of nodes that were taken apart
   */
  public int run(int most) {
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

  /** Takes a batch of children from a container. The container is done when none is left. */
  private int takeChildren(Container container) {
    List<Node> batch = new ArrayList<>(BATCH);
    boolean empty =
        locks.of(
            container,
            () -> {
              while (batch.size() < BATCH && container.childCount() > 0) {
                batch.add(applier.unlinkLastChild(container));
              }
              return container.childCount() == 0;
            });
    if (empty) {
      synchronized (doomed) {
        doomed.remove(container);
      }
    }
    for (Node child : batch) {
      if (applier.endUnlinked(child)) {
        add((Container) child);
      }
    }
    return batch.size();
  }
}

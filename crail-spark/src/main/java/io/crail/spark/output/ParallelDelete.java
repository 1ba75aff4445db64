/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.ParentNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * Deletes subtrees, many at the same time: a namenode that does not answer costs one deadline
 * together, and not one each. A namenode deletes a whole subtree by one request. Used by one
 * thread.
 */
final class ParallelDelete {
  private static final int MOST_IN_FLIGHT = 64;

  private final CrailStore store;
  private final Deque<Upcoming<CrailNode>> inFlight = new ArrayDeque<>();
  private int removed;
  private Exception failure;

  private ParallelDelete(CrailStore store) {
    this.store = store;
  }

  /** Begins to delete a subtree. Waits for an earlier one when there are many. */
  private void add(String path) throws InterruptedException {
    if (inFlight.size() == MOST_IN_FLIGHT) {
      awaitFirst();
    }
    try {
      inFlight.add(store.delete(path, true));
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      fail(e);
    }
  }

  private void awaitFirst() throws InterruptedException {
    try {
      inFlight.remove().get();
      removed++;
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof NodeNotFoundException
          || e.getCause() instanceof ParentNotFoundException)) {
        fail(e);
      }
    }
  }

  private void fail(Exception e) {
    failure = failure == null ? e : failure;
  }

  /**
   * Waits until everything is deleted, or cannot be.
   *
   * @return how many of the subtrees were there, and are deleted
   * @throws Exception the first failure
   */
  private int finish() throws Exception {
    while (!inFlight.isEmpty()) {
      awaitFirst();
    }
    if (failure != null) {
      throw failure;
    }
    return removed;
  }

  /** Deletes subtrees, of which some may be missing, and gives how many of them were there. */
  static int of(CrailStore store, List<String> paths) throws IOException {
    ParallelDelete removals = new ParallelDelete(store);
    try {
      for (String path : paths) {
        removals.add(path);
      }
      return removals.finish();
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.ParentNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/**
 * Deletes subtrees, many at the same time: a namenode that does not answer costs one deadline
 * together, and not one each. A namenode deletes a whole subtree by one request. Used by one
 * thread.
 */
public final class ParallelDelete {
  private static final int MOST_IN_FLIGHT = 64;

  private final CrailStore store;
  private final Deque<Removal> inFlight = new ArrayDeque<>();
  private final Map<String, Exception> failures = new LinkedHashMap<>();
  private int removed;

  private record Removal(String path, Upcoming<CrailNode> result) {}

  /** Creates it. The store stays the caller's. */
  public ParallelDelete(CrailStore store) {
    this.store = store;
  }

  /**
   * Begins to delete a subtree, which may be missing. Waits for an earlier one when there are many.
   */
  public void add(String path) throws InterruptedException {
    if (inFlight.size() == MOST_IN_FLIGHT) {
      awaitFirst();
    }
    try {
      inFlight.add(new Removal(path, store.delete(path, true)));
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      failures.put(path, e);
    }
  }

  private void awaitFirst() throws InterruptedException {
    Removal first = inFlight.remove();
    try {
      first.result.get();
      removed++;
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof NodeNotFoundException
          || e.getCause() instanceof ParentNotFoundException)) {
        failures.put(first.path, e);
      }
    }
  }

  /** Waits until everything is deleted, or cannot be. */
  public void await() throws InterruptedException {
    while (!inFlight.isEmpty()) {
      awaitFirst();
    }
  }

  /** {@return how many of the subtrees were there, and are deleted} */
  public int removed() {
    return removed;
  }

  /** {@return why others could not be deleted, by their paths, in the order of the failures} */
  public Map<String, Exception> failures() {
    return Collections.unmodifiableMap(failures);
  }

  /**
   * As {@link #await}, but fails with the first failure.
   *
   * @return as {@link #removed}
   */
  public int finish() throws Exception {
    await();
    if (!failures.isEmpty()) {
      throw failures.values().iterator().next();
    }
    return removed;
  }

  /** Deletes subtrees, and gives how many of them were there. */
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

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.common.error.NodeNotFoundException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the roots of applications whose lease has ended. It trusts no other host's clock: a root
 * counts as left when this process has seen its access time stand still for the whole lease, which
 * the root's name tells. The time between two looks counts as a quarter of the lease at most, since
 * nobody can renew while the store does not answer. Used by one thread.
 */
public final class RootCleaner {
  private static final Logger LOG = LoggerFactory.getLogger(RootCleaner.class);

  private static final int LOOKS = 4;

  /** What was seen of a root: its access time, how long that stands still, and the last look. */
  private record Seen(long accessTime, long stoodNanos, long lookNanos) {}

  private final CrailStore store;
  private final LongSupplier nanoTime;
  private Map<String, Seen> seen = new HashMap<>();

  /**
   * Creates it.
   *
   * @param nanoTime a clock such as {@link System#nanoTime}
   */
  public RootCleaner(CrailStore store, LongSupplier nanoTime) {
    this.store = store;
    this.nanoTime = nanoTime;
  }

  /**
   * Looks at all roots of all applications, and deletes those that were left.
   *
   * @return the number of roots that were deleted
   */
  public int clean() throws Exception {
    CrailNode top = store.lookup("/").get();
    Map<String, Seen> now = new HashMap<>();
    int deleted = 0;
    Iterator<CrailNode> children = top.asContainer().listStatus();
    while (children.hasNext()) {
      CrailNode root = children.next();
      Duration lease = Roots.lease(root.getPath());
      if (lease == null) {
        continue;
      }
      long accessTime = root.getAttributes().accessTime();
      Seen before = seen.get(root.getPath());
      long nanos = nanoTime.getAsLong();
      if (before == null || before.accessTime != accessTime) {
        now.put(root.getPath(), new Seen(accessTime, 0, nanos));
        continue;
      }
      long stood = before.stoodNanos + Math.min(nanos - before.lookNanos, lease.toNanos() / LOOKS);
      if (stood < lease.toNanos()) {
        now.put(root.getPath(), new Seen(accessTime, stood, nanos));
      } else {
        delete(root.getPath(), lease);
        deleted++;
      }
    }
    seen = now;
    return deleted;
  }

  private void delete(String root, Duration lease) throws Exception {
    LOG.info("{} is deleted: nobody has renewed its lease of {} s", root, lease.toSeconds());
    try {
      store.delete(root, true).get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof NodeNotFoundException)) {
        throw e;
      }
    }
  }
}

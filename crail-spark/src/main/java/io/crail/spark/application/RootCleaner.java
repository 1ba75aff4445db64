/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.spark.output.ParallelDelete;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the roots of applications whose lease has ended. It trusts no other host's clock: a root
 * counts as left when this process has seen its access time unchanged for the whole lease, which
 * the root's name has. The time between two looks counts as a quarter of the lease at most, since
 * no process can renew while the store does not answer. Used by one thread.
 */
public final class RootCleaner {
  private static final Logger LOG = LoggerFactory.getLogger(RootCleaner.class);

  /** How often it has to look during a lease. */
  static final int LOOKS = 4;

  /** What was seen of a root: its access time, how long that has not changed, and the last look. */
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
   * Looks at all roots of all applications, and deletes those that were left. Where a namenode does
   * not answer, or a root cannot be deleted, it does all the others.
   *
   * @return the number of roots that were deleted
   * @throws Exception the first error
   */
  public int clean() throws Exception {
    return clean(path -> true);
  }

  /** As {@link #clean()}, but deletes only some roots, named by their paths. */
  int clean(Predicate<String> chosen) throws Exception {
    CrailNode top = store.lookup("/").get();
    Map<String, Seen> now = new HashMap<>();
    ParallelDelete removals = new ParallelDelete(store);
    try {
      Iterator<CrailNode> children = top.asContainer().listStatus();
      while (children.hasNext()) {
        CrailNode root = children.next();
        String path = root.getPath();
        Optional<Roots.Root> name = Roots.parse(path);
        if (name.isEmpty() || !chosen.test(path) || !stoodStill(root, name.get().lease(), now)) {
          continue;
        }
        long seconds = name.get().lease().toSeconds();
        LOG.info("{} is deleted: no process has renewed its lease of {} s", path, seconds);
        removals.add(path);
      }
    } finally {
      seen = now;
      removals.await();
    }
    return removals.finish();
  }

  private boolean stoodStill(CrailNode root, Duration lease, Map<String, Seen> now)
      throws Exception {
    long accessTime = root.getAttributes().accessTime();
    Seen before = seen.get(root.getPath());
    long nanos = nanoTime.getAsLong();
    if (before == null || before.accessTime != accessTime) {
      now.put(root.getPath(), new Seen(accessTime, 0, nanos));
      return false;
    }
    long stood = before.stoodNanos + Math.min(nanos - before.lookNanos, lease.toNanos() / LOOKS);
    now.put(root.getPath(), new Seen(accessTime, stood, nanos));
    return stood >= lease.toNanos();
  }
}

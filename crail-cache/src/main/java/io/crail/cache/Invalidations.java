/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.cache.CacheStatistics.Counter;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Removes the status of what was changed. If Crail does not do it at once, it is done as soon as
 * Crail answers again, and until then this process asks the source. Others may find the old status,
 * until it is too old. Thread-safe.
 */
final class Invalidations {
  /** Most that are remembered. */
  private static final int MOST = 65_536;

  private final CacheStore crail;
  private final CacheNames names;
  private final CacheStatistics statistics;

  /** Names of status that are still to be removed. */
  private final Set<String> files = ConcurrentHashMap.newKeySet();

  /** What such names begin with, of all that is below a directory. */
  private final Set<String> trees = ConcurrentHashMap.newKeySet();

  Invalidations(CacheStore crail, CacheNames names, CacheStatistics statistics) {
    this.crail = crail;
    this.names = names;
    this.statistics = statistics;
  }

  /** Removes the status of a file. */
  void file(String name) {
    if (!removed(name) && files.size() < MOST) {
      files.add(name);
    }
  }

  /** Removes all status whose names begin so. */
  void tree(String beginning) {
    if (!removedBelow(beginning) && trees.size() < MOST) {
      trees.add(beginning);
    }
  }

  private boolean removed(String name) {
    boolean done = crail.mayAsk() && crail.remove(name);
    if (done) {
      statistics.increment(Counter.INVALIDATIONS);
    }
    return done;
  }

  private boolean removedBelow(String beginning) {
    int count =
        crail.mayAsk() ? crail.removeAll(names.statuses(), name -> name.startsWith(beginning)) : -1;
    statistics.add(Counter.INVALIDATIONS, Math.max(0, count));
    return count >= 0;
  }

  /** Whether a status may be in Crail although the file has changed. */
  boolean isStale(String name) {
    if (files.isEmpty() && trees.isEmpty()) {
      return false;
    }
    // One that is added meanwhile is of a change that has not ended.
    files.removeIf(this::removed);
    trees.removeIf(this::removedBelow);
    String last = name.substring(name.lastIndexOf('/') + 1);
    return files.contains(name) || trees.stream().anyMatch(last::startsWith);
  }
}

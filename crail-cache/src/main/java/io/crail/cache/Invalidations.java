/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.cache.CacheStatistics.Counter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Removes the status of what was changed. If Crail does not do it at once, it is done as soon as
 * Crail answers again, and until then this file system asks the source. Others may find the old
 * status, until it is too old. Thread-safe.
 */
final class Invalidations {
  /** Most files, and most directories, that are remembered; with more, all status is stale. */
  private static final int MOST = 65_536;

  /** What all names begin with. */
  private static final String ALL = "";

  /** Files that one thread removes at a time, while it wants a status. */
  private static final int STEP = 64;

  /** After a step without success. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final CacheStore crail;
  private final CacheNames names;
  private final CacheStatistics statistics;

  /**
   * Names of status that are still to be removed, each with the number of its change. So one that
   * is changed once more while it is removed stays.
   */
  private final Map<String, Long> files = new ConcurrentHashMap<>();

  /** What such names begin with, of all that is below a directory. */
  private final Map<String, Long> trees = new ConcurrentHashMap<>();

  private final AtomicLong changes = new AtomicLong();

  /** Of the thread that removes. */
  private final ReentrantLock work = new ReentrantLock();

  /** When to try again. Guarded by work. */
  private long nextNanos = System.nanoTime();

  Invalidations(CacheStore crail, CacheNames names, CacheStatistics statistics) {
    this.crail = crail;
    this.names = names;
    this.statistics = statistics;
  }

  /** Removes the status of a file. */
  void file(String name) {
    if (!removed(name)) {
      remember(files, name);
    }
  }

  /** Removes all status whose names begin so. */
  void tree(String beginning) {
    if (!removedBelow(beginning)) {
      remember(trees, beginning);
    }
  }

  private void remember(Map<String, Long> stale, String name) {
    long change = changes.incrementAndGet();
    if (stale.size() < MOST || stale.containsKey(name)) {
      stale.put(name, change);
    } else {
      trees.put(ALL, change);
    }
  }

  private boolean removed(String name) {
    boolean done = crail.remove(name);
    if (done) {
      statistics.increment(Counter.INVALIDATIONS);
    }
    return done;
  }

  private boolean removedBelow(String beginning) {
    int count = crail.removeAll(names.statuses(), name -> name.startsWith(beginning));
    statistics.add(Counter.INVALIDATIONS, Math.max(0, count));
    return count >= 0;
  }

  /** Whether a status may be in Crail although the file has changed. */
  boolean isStale(String name) {
    if (files.isEmpty() && trees.isEmpty()) {
      return false;
    }
    // One that is added meanwhile is of a change that has not ended.
    workOff();
    String last = name.substring(name.lastIndexOf('/') + 1);
    return files.containsKey(name) || trees.keySet().stream().anyMatch(last::startsWith);
  }

  private void workOff() {
    if (!work.tryLock()) {
      return;
    }
    try {
      boolean mayTry = crail.mayAsk() && System.nanoTime() - nextNanos >= 0;
      if (mayTry
          && !(workOff(trees, 1, this::removedBelow) && workOff(files, STEP, this::removed))) {
        nextNanos = System.nanoTime() + PAUSE_NANOS;
      }
    } finally {
      work.unlock();
    }
  }

  private static boolean workOff(Map<String, Long> stale, int most, Predicate<String> remove) {
    int count = 0;
    for (Map.Entry<String, Long> each : stale.entrySet()) {
      if (count++ == most) {
        break;
      }
      String name = each.getKey();
      Long change = each.getValue();
      if (!remove.test(name)) {
        return false;
      }
      stale.remove(name, change);
    }
    return true;
  }
}

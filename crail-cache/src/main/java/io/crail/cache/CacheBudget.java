/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailSpace;
import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.LoadClaims.Claim;
import io.crail.cache.LoadClaims.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Keeps the blocks of a cache within its budget, and some space of the cluster free for others.
 * Before a process has put an eighth of what was left when it last looked, it looks again: it lists
 * the blocks, and sums up what they take. If that is too much, it removes those that were used
 * least recently. One process of all removes; the others put nothing more meanwhile. Thread-safe.
 */
final class CacheBudget {
  /** Processes that may put at the same time without one that sees what the others do. */
  private static final int SHARES = 8;

  /** How much more than necessary is removed, so that the next blocks find room. */
  private static final double SLACK = 0.1;

  /** Most names in memory at a time. */
  private static final int MOST_VICTIMS = 10_000;

  /** A status that has not been loaded for so long is not kept. */
  private static final long STATUS_MILLIS = TimeUnit.DAYS.toMillis(1);

  /** A claim so old is of a process that is gone. */
  private static final Duration CLAIM = Duration.ofHours(1);

  /** How often what no one looks at is removed, by one process of all. */
  private static final Duration TIDY = Duration.ofHours(1);

  /** How long the one that removes blocks is waited for. It stops when half of it is over. */
  private static final Duration EVICTION = Duration.ofMinutes(1);

  /** After a look that found no room, how long no one looks again. */
  private static final long NO_ROOM_MILLIS = 1_000;

  private final CacheStore crail;
  private final CacheNames names;
  private final LoadClaims claims;
  private final long budgetBytes;
  private final int keepFreePercent;
  private final long statusMillis;
  private final LongSupplier clockMillis;
  private final CacheStatistics statistics;

  /** What may be put until the next look. Guarded by this. */
  private long allowanceBytes;

  /** What is being put, so that a list may not show it yet. Guarded by this. */
  private long underWayBytes;

  /** Until when there is no room. Guarded by this. */
  private long fullUntilMillis;

  /** What was last used before this time would have been removed to make some. Guarded by this. */
  private long fullBeforeMillis;

  private final AtomicLong tidiedMillis = new AtomicLong();

  CacheBudget(
      CacheStore crail,
      CacheNames names,
      LoadClaims claims,
      CacheSettings settings,
      LongSupplier clockMillis,
      CacheStatistics statistics) {
    this.crail = crail;
    this.names = names;
    this.claims = claims;
    this.budgetBytes = settings.budgetBytes();
    this.keepFreePercent = settings.keepFreePercent();
    this.statusMillis = Math.max(STATUS_MILLIS, 2 * settings.statusAgeMillis());
    this.clockMillis = clockMillis;
    this.statistics = statistics;
  }

  /** A block that may be removed. */
  private record Victim(String path, long usedMillis, long takenBytes) {}

  /**
   * Whether a block may be put; makes room for it if necessary. If so, {@link #hasBeenPut} has to
   * be called.
   *
   * @param usedBeforeMillis only blocks that were last used before this time are removed for it, in
   *     milliseconds since 1970
   */
  synchronized boolean admits(int length, long usedBeforeMillis) {
    long taken = CacheContents.takenBytes(length);
    if (taken > allowanceBytes && !findsRoom(taken, usedBeforeMillis)) {
      return false;
    }
    allowanceBytes -= taken;
    underWayBytes += taken;
    return true;
  }

  /** A block that was admitted is in Crail, or will not be. */
  synchronized void hasBeenPut(int length) {
    underWayBytes -= CacheContents.takenBytes(length);
  }

  /** Crail had no space for a block. The next one finds some, if blocks of this cache have it. */
  synchronized void refused(int length, long usedBeforeMillis) {
    if (!isFull(usedBeforeMillis)) {
      List<Victim> oldest = new ArrayList<>();
      long total = list(oldest, usedBeforeMillis);
      long wanted = Math.max(CacheContents.takenBytes(length), (long) (SLACK * total));
      noteRoom(remove(oldest, wanted), usedBeforeMillis);
    }
  }

  private boolean findsRoom(long wanted, long usedBeforeMillis) {
    return !isFull(usedBeforeMillis) && noteRoom(look(wanted, usedBeforeMillis), usedBeforeMillis);
  }

  /**
   * Whether a look would find what the last one has found. A load may remove less than a reader, so
   * where it finds no room, a reader looks too. A clock that was set back ends it.
   */
  private boolean isFull(long usedBeforeMillis) {
    long leftMillis = fullUntilMillis - clockMillis.getAsLong();
    return leftMillis > 0 && leftMillis <= NO_ROOM_MILLIS && usedBeforeMillis <= fullBeforeMillis;
  }

  private boolean noteRoom(boolean found, long usedBeforeMillis) {
    fullUntilMillis = found ? 0 : clockMillis.getAsLong() + NO_ROOM_MILLIS;
    fullBeforeMillis = usedBeforeMillis;
    return found;
  }

  /** Looks what all blocks take, and makes room. Returns whether there is room for a block. */
  private boolean look(long wanted, long usedBeforeMillis) {
    for (int attempt = 0; attempt < 2; attempt++) {
      List<Victim> oldest = new ArrayList<>();
      long total = list(oldest, usedBeforeMillis);
      CrailSpace space = total < 0 ? null : crail.space();
      if (space == null) {
        return false;
      }
      long left = room(total + underWayBytes, space);
      if (left >= wanted) {
        allowanceBytes = Math.max(wanted, left / SHARES);
        return true;
      }
      long limit = Math.min(budgetBytes, total + left);
      if (!remove(oldest, wanted - left + (long) (SLACK * Math.max(0, limit)))) {
        return false;
      }
    }
    return false;
  }

  /** What may be put; negative if blocks have to go. Space that rests comes back by itself. */
  private long room(long total, CrailSpace space) {
    long kept = space.capacityBytes() / 100 * keepFreePercent;
    return Math.min(budgetBytes - total, space.freeBytes() + space.waitingBytes() - kept);
  }

  /** Sums up all blocks; fills in those that were used least recently, the oldest first. */
  private long list(List<Victim> oldest, long usedBeforeMillis) {
    PriorityQueue<Victim> found =
        new PriorityQueue<>(Comparator.comparingLong(Victim::usedMillis).reversed());
    long[] total = {0};
    boolean all =
        crail.scan(
            names.blocks(),
            node -> {
              long taken = CacheContents.takenBytes(node.getCapacity());
              long usedMillis = node.getAttributes().accessTime();
              total[0] += taken;
              if (usedMillis < usedBeforeMillis
                  && (found.size() < MOST_VICTIMS || usedMillis < found.peek().usedMillis())) {
                found.add(new Victim(node.getPath(), usedMillis, taken));
                if (found.size() > MOST_VICTIMS) {
                  found.poll();
                }
              }
            });
    oldest.addAll(found);
    oldest.sort(Comparator.comparingLong(Victim::usedMillis));
    return all ? total[0] : -1;
  }

  /** Removes blocks, if no other process does; returns whether some were removed. */
  private boolean remove(List<Victim> oldest, long bytes) {
    Claim claim = claims.claimWork(names.eviction(), EVICTION);
    if (claim.outcome() != Outcome.CLAIMED) {
      return false;
    }
    try {
      long untilNanos = System.nanoTime() + EVICTION.toNanos() / 2;
      long removed = 0;
      for (Victim victim : oldest) {
        if (removed >= bytes || System.nanoTime() - untilNanos > 0) {
          break;
        }
        if (crail.remove(victim.path())) {
          removed += victim.takenBytes();
          statistics.increment(Counter.EVICTIONS);
        }
      }
      return removed > 0;
    } finally {
      claims.end(claim);
    }
  }

  /** Removes what no one will look at any more, if no process has done so for a while. */
  void tidy() {
    long now = clockMillis.getAsLong();
    long last = tidiedMillis.get();
    if (now - last < TIDY.toMillis() || !tidiedMillis.compareAndSet(last, now)) {
      return;
    }
    long doneMillis = crail.madeMillis(names.tidied());
    boolean isDue = doneMillis == CacheStore.ABSENT || now - doneMillis >= TIDY.toMillis();
    if (doneMillis == CacheStore.UNKNOWN || !isDue) {
      return;
    }
    Claim claim = claims.claimWork(names.tidying(), TIDY);
    if (claim.outcome() == Outcome.CLAIMED) {
      try {
        crail.remove(names.tidied());
        crail.claim(names.tidied());
        crail.removeOlder(names.statuses(), now - statusMillis);
        crail.removeOlder(names.claims(), now - CLAIM.toMillis());
      } finally {
        claims.end(claim);
      }
    }
  }
}

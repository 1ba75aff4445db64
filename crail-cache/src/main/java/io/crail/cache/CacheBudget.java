/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailSpace;
import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.LoadClaims.Claim;
import io.crail.cache.LoadClaims.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
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
  private static final long CLAIM_MILLIS = TimeUnit.HOURS.toMillis(1);

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

  private long tidiedMillis;

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

  /** Whether a block may be put; makes room for it if necessary. */
  synchronized boolean admits(int length) {
    long taken = CacheContents.takenBytes(length);
    if (taken > allowanceBytes && !look(taken)) {
      return false;
    }
    allowanceBytes -= taken;
    return true;
  }

  /** Crail had no space for a block. The next one finds some, if blocks of this cache have it. */
  synchronized void refused(int length) {
    List<Victim> oldest = new ArrayList<>();
    long total = list(oldest);
    remove(oldest, Math.max(CacheContents.takenBytes(length), (long) (SLACK * total)));
  }

  /** Looks what all blocks take, and makes room. Returns whether there is room for a block. */
  private boolean look(long wanted) {
    for (int attempt = 0; attempt < 2; attempt++) {
      List<Victim> oldest = new ArrayList<>();
      long total = list(oldest);
      CrailSpace space = crail.space();
      if (total < 0 || space == null) {
        return false;
      }
      long left = room(total, space);
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
  private long list(List<Victim> oldest) {
    PriorityQueue<Victim> found =
        new PriorityQueue<>(Comparator.comparingLong(Victim::usedMillis).reversed());
    long[] total = {0};
    boolean all =
        crail.scan(
            names.blocks(),
            (path, length, usedMillis) -> {
              long taken = CacheContents.takenBytes(length);
              total[0] += taken;
              if (found.size() < MOST_VICTIMS || usedMillis < found.peek().usedMillis()) {
                found.add(new Victim(path, usedMillis, taken));
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
    Claim claim = claims.claim(names.eviction(), false, () -> false);
    if (claim.outcome() != Outcome.CLAIMED) {
      return false;
    }
    try {
      long removed = 0;
      for (Victim victim : oldest) {
        if (removed >= bytes) {
          break;
        }
        if (crail.remove(victim.path())) {
          removed += victim.takenBytes();
          statistics.increment(Counter.EVICTIONS);
        }
      }
      tidy();
      return removed > 0;
    } finally {
      claims.end(claim);
    }
  }

  /** Removes what no one will look at any more. */
  private void tidy() {
    long now = clockMillis.getAsLong();
    if (now - tidiedMillis > CLAIM_MILLIS) {
      tidiedMillis = now;
      crail.removeOlder(names.statuses(), now - statusMillis);
      crail.removeOlder(names.claims(), now - CLAIM_MILLIS);
    }
  }
}

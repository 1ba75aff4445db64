/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailKeyValue;
import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.LoadClaims.Claim;
import io.crail.cache.LoadClaims.Outcome;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The status of files. A record in Crail is begun before the source is asked. So if the file is
 * changed through the cache meanwhile, and its record removed, the old status never appears. While
 * a record is empty, others wait a moment for who loads it. Directories, and files that are not
 * there, are not cached. Thread-safe.
 */
final class StatusCache {
  /** How long others wait for who loads a status, which may be gone. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How often a load that was overtaken is repeated. */
  private static final int MOST_ATTEMPTS = 4;

  private static final long FIRST_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long LAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final CacheStore crail;
  private final CacheNames names;
  private final LoadClaims claims;
  private final FileSystem source;
  private final long ageMillis;
  private final LongSupplier clockMillis;
  private final CacheStatistics statistics;

  /**
   * What was found to be a directory, or not to be there, a while ago. It very likely still is, so
   * no record is begun before the source has said so.
   */
  private final Map<String, String> uncached = Collections.synchronizedMap(new Recent());

  private final Invalidations invalidations;

  /** Status that is being loaded, by name. */
  private final ConcurrentMap<String, CompletableFuture<Found>> loads = new ConcurrentHashMap<>();

  StatusCache(
      CacheStore crail,
      CacheNames names,
      LoadClaims claims,
      FileSystem source,
      long ageMillis,
      LongSupplier clockMillis,
      CacheStatistics statistics) {
    this.crail = crail;
    this.names = names;
    this.claims = claims;
    this.source = source;
    this.ageMillis = ageMillis;
    this.clockMillis = clockMillis;
    this.statistics = statistics;
    this.invalidations = new Invalidations(crail, names, statistics);
  }

  /** The names that were put last. */
  private static final class Recent extends LinkedHashMap<String, String> {
    private static final long serialVersionUID = 1;
    private static final int MOST = 4096;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
      return size() > MOST;
    }
  }

  /**
   * A status, and the record that blocks belong to.
   *
   * @param status of a file or a directory
   * @param record null for what is not cached
   */
  record Found(FileStatus status, StatusRecord record) {}

  /**
   * Finds a status.
   *
   * @param path qualified
   * @throws IOException the error of the source
   */
  Found find(Path path) throws IOException {
    String name = names.status(path);
    if (invalidations.isStale(name)) {
      return new Found(source.getFileStatus(path), null);
    }
    for (int attempt = 0; attempt < MOST_ATTEMPTS && ageMillis != 0 && !path.isRoot(); attempt++) {
      StatusRecord known = crail.mayAsk() ? known(path, name) : null;
      if (known != null && known.isFresh(clockMillis.getAsLong(), ageMillis)) {
        statistics.increment(Counter.STATUS_HITS);
        return new Found(known.status(), known);
      }
      Found found = crail.mayAsk() ? load(path, name, known) : null;
      if (found != null) {
        return found;
      }
    }
    return new Found(source.getFileStatus(path), null);
  }

  /** The record in Crail, however old it is; null if there is none. */
  private StatusRecord known(Path path, String name) {
    byte[] value = crail.getSmall(name);
    long begunNanos = System.nanoTime();
    long pauseNanos = FIRST_PAUSE_NANOS;
    while (value != null
        && value.length == 0
        && System.nanoTime() - begunNanos < PATIENCE_NANOS
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(pauseNanos);
      pauseNanos = Math.min(2 * pauseNanos, LAST_PAUSE_NANOS);
      value = crail.getSmall(name);
    }
    return value == null ? null : StatusRecord.decode(value, path);
  }

  /** Loads a status, or waits for another thread that does; null to look once more. */
  private Found load(Path path, String name, StatusRecord known) throws IOException {
    CompletableFuture<Found> mine = new CompletableFuture<>();
    CompletableFuture<Found> other = loads.putIfAbsent(name, mine);
    if (other != null) {
      return other.join();
    }
    Found found = null;
    try {
      Runnable full = () -> loads.remove(name, mine);
      found = known != null ? fill(path, name, known, full) : loadFirst(path, name, full);
      return found;
    } finally {
      loads.remove(name, mine);
      mine.complete(found);
    }
  }

  /** Makes the first record, so that all processes have the same. Null to look once more. */
  private Found loadFirst(Path path, String name, Runnable full) throws IOException {
    if (uncached.containsKey(name)) {
      FileStatus status = source.getFileStatus(path);
      if (!isCached(status)) {
        return new Found(status, null);
      }
      uncached.remove(name);
    }
    Claim claim = claims.claim(name, true, () -> isThere(path, name));
    try {
      return claim.outcome() == Outcome.LOADED
              || claim.outcome() == Outcome.CLAIMED && isThere(path, name)
          ? null
          : fill(path, name, null, full);
    } finally {
      claims.end(claim);
    }
  }

  private boolean isThere(Path path, String name) {
    byte[] value = crail.getSmall(name);
    return value != null && value.length > 0 && StatusRecord.decode(value, path) != null;
  }

  private static boolean isCached(FileStatus status) {
    return status.isFile() && !status.isSymlink();
  }

  /**
   * Loads a status.
   *
   * @param full is run before the record gets its content. Who asks from then on may do so after a
   *     change that this record has just missed.
   * @return null if another one has begun a record since, or the file has been changed
   */
  private Found fill(Path path, String name, StatusRecord known, Runnable full) throws IOException {
    CrailKeyValue begun = crail.begin(name);
    if (begun == null) {
      return new Found(source.getFileStatus(path), null);
    }
    boolean filled = false;
    try {
      long loadedMillis = clockMillis.getAsLong();
      FileStatus status = source.getFileStatus(path);
      if (!isCached(status)) {
        return new Found(status, null);
      }
      statistics.increment(Counter.STATUS_LOADS);
      long salt =
          known != null && known.keepsBlocksOf(status)
              ? known.salt()
              : ThreadLocalRandom.current().nextLong();
      StatusRecord record = StatusRecord.of(status, status.getPath(), loadedMillis, salt);
      full.run();
      filled = crail.fill(begun, record.encode());
      return filled ? new Found(record.status(), record) : null;
    } finally {
      if (!filled) {
        uncached.put(name, name);
        crail.drop(begun);
      }
    }
  }

  /** Forgets a file, which is changed, or is found to be another one. */
  void invalidate(Path path) {
    invalidations.file(names.status(path));
  }

  /** Forgets a file, and all below if it is a directory. */
  void invalidateTree(Path path) {
    invalidations.file(names.status(path));
    invalidations.tree(names.statusesBelow(path));
  }
}

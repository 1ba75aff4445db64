/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailKeyValue;
import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.LoadClaims.Claim;
import io.crail.cache.LoadClaims.Outcome;
import io.crail.cache.SourceFile.Standing;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The status of files. A record in Crail is begun before the source is asked. So if the file is
 * changed through the cache meanwhile, and its record removed, the old status never appears. While
 * a record is empty, others wait a moment for who loads it. Directories, files that are not there,
 * and files that were changed just now are not cached. Thread-safe.
 */
final class StatusCache {
  /** How long others wait for who loads a status, which may be gone. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How often a load that was overtaken is repeated. */
  private static final int MOST_ATTEMPTS = 4;

  private static final long FIRST_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long LAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** What others get from a thread that has failed. */
  private static final Found FAILED = new Found(null, null);

  private final CacheStore crail;
  private final CacheNames names;
  private final LoadClaims claims;
  private final FileSystem source;
  private final CacheSettings settings;
  private final LongSupplier clockMillis;
  private final CacheStatistics statistics;

  /**
   * What was found to be a directory, or not to be there, or new, a while ago. It very likely still
   * is, so no record is begun before the source has said so.
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
      CacheSettings settings,
      LongSupplier clockMillis,
      CacheStatistics statistics) {
    this.crail = crail;
    this.names = names;
    this.claims = claims;
    this.source = source;
    this.settings = settings;
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
    // Hadoop's own test for the root makes a path of the parent.
    boolean cached = settings.statusAgeMillis() != 0 && path.toUri().getPath().length() > 1;
    if (!cached || invalidations.isStale(name)) {
      return ofSource(path);
    }
    for (int attempt = 0; attempt < MOST_ATTEMPTS && crail.mayAsk(); attempt++) {
      StatusRecord known = known(path, name);
      if (isFresh(known)) {
        statistics.increment(Counter.STATUS_HITS);
        return new Found(known.status(), known);
      }
      Found found = crail.mayAsk() ? load(path, name, known != null) : null;
      if (found != null) {
        return found;
      }
    }
    return ofSource(path);
  }

  private Found ofSource(Path path) throws IOException {
    return new Found(source.getFileStatus(path), null);
  }

  private boolean isFresh(StatusRecord known) {
    return known != null && known.isFresh(clockMillis.getAsLong(), settings.statusAgeMillis());
  }

  /**
   * What has become of a record that was found.
   *
   * @param errors of Crail until it was found. A namenode may have lost it with one that came
   *     since; otherwise only a change replaces a record by one of other blocks
   */
  Standing standing(Path path, StatusRecord record, long errors) {
    StatusRecord present = known(path, names.status(path));
    if (present == null || present.salt() != record.salt() && crail.errors() != errors) {
      return Standing.GONE;
    }
    return present.salt() == record.salt() ? Standing.SAME : Standing.REPLACED;
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
  private Found load(Path path, String name, boolean again) throws IOException {
    CompletableFuture<Found> mine = new CompletableFuture<>();
    CompletableFuture<Found> other = loads.putIfAbsent(name, mine);
    if (other != null) {
      Found theirs = outcome(other);
      // What has no record may be older than a change that this thread has made.
      return theirs == null || theirs.record() != null ? theirs : ofSource(path);
    }
    Found found = FAILED;
    try {
      Runnable full = () -> loads.remove(name, mine);
      found = again ? loadNext(path, name, full) : loadFirst(path, name, full);
      return found;
    } finally {
      loads.remove(name, mine);
      mine.complete(found);
    }
  }

  private Found outcome(CompletableFuture<Found> load) {
    try {
      return load.get(settings.patienceMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return FAILED;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return FAILED;
    } catch (ExecutionException e) {
      throw new AssertionError("it is completed with a result", e);
    }
  }

  /** Loads the first record, so that all processes have the same. Null to look once more. */
  private Found loadFirst(Path path, String name, Runnable full) throws IOException {
    if (uncached.containsKey(name)) {
      FileStatus status = source.getFileStatus(path);
      if (!isCached(status, clockMillis.getAsLong())) {
        return new Found(status, null);
      }
      uncached.remove(name);
    }
    Claim claim = claims.claim(name, true, () -> isThere(path, name));
    try {
      return claim.outcome() == Outcome.LOADED ? null : loadNext(path, name, full);
    } finally {
      claims.end(claim);
    }
  }

  /**
   * Loads a record. It has the blocks of one that is too old if the file is the same, and if it
   * takes the place of that very one: if that was removed after a change, its blocks are not those
   * of the file. Null to look once more, since another one is there.
   */
  private Found loadNext(Path path, String name, Runnable full) throws IOException {
    // In this order: a node that is still there at the end was there when the record was read.
    long id = crail.id(name);
    StatusRecord known = id == 0 ? null : known(path, name);
    CrailKeyValue begun = isFresh(known) ? null : crail.begin(name, id);
    return begun == null ? null : fill(path, name, known, begun, full);
  }

  private boolean isThere(Path path, String name) {
    byte[] value = crail.getSmall(name);
    return value != null && value.length > 0 && StatusRecord.decode(value, path) != null;
  }

  private static boolean isCached(FileStatus status, long nowMillis) {
    return status.isFile() && !status.isSymlink() && StatusRecord.isSettled(status, nowMillis);
  }

  /**
   * Loads a status.
   *
   * @param known the record before; null for none
   * @param begun what becomes the record
   * @param full is run before the record gets its content. Who asks from then on may do so after a
   *     change that this record has just missed.
   * @return null if another one has begun a record since, or the file has been changed
   */
  private Found fill(Path path, String name, StatusRecord known, CrailKeyValue begun, Runnable full)
      throws IOException {
    boolean filled = false;
    try {
      long loadedMillis = clockMillis.getAsLong();
      FileStatus status = source.getFileStatus(path);
      if (!isCached(status, loadedMillis)) {
        return new Found(status, null);
      }
      statistics.increment(Counter.STATUS_LOADS);
      boolean same = known != null && known.hasContentOf(status);
      long salt = same ? known.salt() : ThreadLocalRandom.current().nextLong();
      StatusRecord record = StatusRecord.of(status, path, loadedMillis, salt);
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

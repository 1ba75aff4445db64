/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.GlobalStorageStatistics;
import org.apache.hadoop.fs.StorageStatistics;

/**
 * Counts what a cached file system does in this process. Hadoop shows it among the statistics of
 * storage, under the name {@code CrailCache} with the URI. Thread-safe.
 */
public final class CacheStatistics extends StorageStatistics {
  private static final String NAME = "CrailCache ";

  private final String scheme;
  private final LongAdder[] counts = new LongAdder[Counter.values().length];

  /** What is counted. Hadoop knows each by its name in lower case. */
  public enum Counter {
    /** Blocks that came from Crail. */
    HITS,
    /** Blocks that were in the memory of this process. */
    MEMORY_HITS,
    /** Blocks that were not in Crail. */
    MISSES,
    /** Blocks that this process has read from the source. */
    LOADS,
    /** Bytes that came from Crail. */
    HIT_BYTES,
    /** Bytes that came from the source. */
    SOURCE_BYTES,
    /** Blocks that this process has put. */
    PUTS,
    /** Bytes that this process has put. */
    PUT_BYTES,
    /** Blocks and reads of the source, since Crail did not answer, or there was no memory. */
    FALLBACKS,
    /** Misses in which this process waited for another one to load the block. */
    CLAIM_WAITS,
    /** Status that came from Crail. */
    STATUS_HITS,
    /** Status of files that this process has asked the source for. */
    STATUS_LOADS,
    /** Status that was removed, since this process has changed the file. */
    INVALIDATIONS,
    /** Blocks that this process has removed to make room. */
    EVICTIONS,
    /** Blocks that were not put, since there was no room. */
    REFUSALS,
    /** Errors of Crail after which it was left alone for a while. */
    FAILURES
  }

  CacheStatistics(String name, String scheme) {
    super(name);
    this.scheme = scheme;
    Arrays.setAll(counts, index -> new LongAdder());
  }

  /** Those of a URI, which all its file systems of this process share. */
  static CacheStatistics of(String uri, String scheme) {
    String name = NAME + uri;
    StorageStatistics shared =
        GlobalStorageStatistics.INSTANCE.put(name, () -> new CacheStatistics(name, scheme));
    // Another class loader may have put a class there that only has the same name.
    return shared instanceof CacheStatistics own ? own : new CacheStatistics(name, scheme);
  }

  void add(Counter counter, long count) {
    counts[counter.ordinal()].add(count);
  }

  void increment(Counter counter) {
    counts[counter.ordinal()].increment();
  }

  /**
   * {@return the count since the start of the process, or since {@link #reset}}
   *
   * @param counter what was counted
   */
  public long count(Counter counter) {
    return counts[counter.ordinal()].sum();
  }

  private static String name(Counter counter) {
    return counter.name().toLowerCase(Locale.ROOT);
  }

  private static Counter find(String name) {
    return Arrays.stream(Counter.values())
        .filter(counter -> name(counter).equals(name))
        .findAny()
        .orElse(null);
  }

  @Override
  public String getScheme() {
    return scheme;
  }

  @Override
  public Iterator<LongStatistic> getLongStatistics() {
    return Arrays.stream(Counter.values())
        .map(counter -> new LongStatistic(name(counter), count(counter)))
        .iterator();
  }

  @Override
  public Long getLong(String key) {
    Counter counter = find(key);
    return counter == null ? null : Long.valueOf(count(counter));
  }

  @Override
  public boolean isTracked(String key) {
    return find(key) != null;
  }

  @Override
  public void reset() {
    for (LongAdder count : counts) {
      count.reset();
    }
  }

  @Override
  public String toString() {
    return getName()
        + ": "
        + Arrays.stream(Counter.values())
            .map(counter -> name(counter) + " " + count(counter))
            .collect(Collectors.joining(", "));
  }
}

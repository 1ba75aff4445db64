/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import java.time.Duration;
import java.util.List;

/** The keys of the cache in front of a slow file system. */
public final class CacheKeys implements ConfigKeys {
  /** Where the cache is. */
  public static final ConfigKey<String> ROOT =
      ConfigKey.of(
              "crail.cache.root",
              ConfigType.STRING,
              "/cache",
              "The directory in Crail below which each file system that is cached has a directory.")
          .check(
              value ->
                  value.startsWith("/") && value.length() > 1 && !value.endsWith("/")
                      ? null
                      : "must begin with a slash, and not end with one");

  /** Bytes of a block. */
  public static final ConfigKey<Long> BLOCK_SIZE =
      ConfigKey.of(
              "crail.cache.blocksize",
              ConfigType.BYTES,
              "1m",
              "Bytes of a block of a cached file: what is read from the source at a time, and what"
                  + " is one value in Crail. Files of another block size are not shared.")
          .between(4096, 1 << 28);

  /** How old a status may be. */
  public static final ConfigKey<Duration> STATUS_AGE =
      ConfigKey.of(
              "crail.cache.statusage",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "5s",
              "How old the status of a cached file may be, counted from when the source was asked."
                  + " A change that was not made through the cache is seen after this time at the"
                  + " latest.")
          .between(Duration.ZERO, Duration.ofDays(365));

  /** Patience with Crail. */
  public static final ConfigKey<Duration> TIMEOUT =
      ConfigKey.of(
              "crail.cache.timeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "2s",
              "How long an operation of the cache waits for Crail, in place of crail.rpctimeout and"
                  + " crail.datatimeout, before the source is asked instead.")
          .between(Duration.ofMillis(1), Duration.ofHours(1));

  /** The pause after an error. */
  public static final ConfigKey<Duration> BACK_OFF =
      ConfigKey.of(
              "crail.cache.backoff",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "1s",
              "How long a process leaves Crail alone after an error, and reads from the source."
                  + " Twice as long after each further error, up to 32 times.")
          .between(Duration.ofMillis(1), Duration.ofHours(1));

  /** How long a claim holds. */
  public static final ConfigKey<Duration> CLAIM =
      ConfigKey.of(
              "crail.cache.claim",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "5s",
              "How long other processes wait for the one that reads a block from the source, before"
                  + " they read it themselves.")
          .between(Duration.ofMillis(1), Duration.ofHours(1));

  /** Memory for blocks. */
  public static final ConfigKey<Long> MEMORY =
      ConfigKey.of(
              "crail.cache.memory",
              ConfigType.BYTES,
              "64m",
              "Most memory of a process for blocks of each cached file system: those that are read,"
                  + " on their way to Crail, read ahead, or were used last.")
          .between(8192, 1L << 40);

  /** Blocks to read ahead. */
  public static final ConfigKey<Integer> READ_AHEAD =
      ConfigKey.of(
              "crail.cache.readahead",
              ConfigType.INT,
              "4",
              "Blocks that are fetched ahead for a stream that is read in sequence; 0 for none.")
          .between(0, 1024);

  /** Bytes of all blocks. */
  public static final ConfigKey<Long> BUDGET =
      ConfigKey.of(
              "crail.cache.budget",
              ConfigType.BYTES,
              "0",
              "Most space that the blocks of each cached file system take in Crail; those that were"
                  + " used least recently are removed. 0: as much as crail.cache.keepfree leaves."
                  + " With the name of a source behind it, the key is for that source alone.")
          .between(0, Long.MAX_VALUE / 4);

  /** Space for others. */
  public static final ConfigKey<Integer> KEEP_FREE =
      ConfigKey.of(
              "crail.cache.keepfree",
              ConfigType.INT,
              "20",
              "Percent of the space of the cluster that a cache leaves free for others; it removes"
                  + " its own blocks when there is less.")
          .between(0, 99);

  /** How often an access is noted. */
  public static final ConfigKey<Duration> STAMP =
      ConfigKey.of(
              "crail.cache.stamp",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "60s",
              "How exactly Crail knows when a block was used last: a process says so at most once"
                  + " in this time for each block.")
          .between(Duration.ZERO, Duration.ofDays(1));

  /** Called by {@code ServiceLoader}. */
  public CacheKeys() {}

  @Override
  public String title() {
    return "Cache of a slow file system";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        ROOT,
        BLOCK_SIZE,
        STATUS_AGE,
        TIMEOUT,
        BACK_OFF,
        CLAIM,
        MEMORY,
        READ_AHEAD,
        BUDGET,
        KEEP_FREE,
        STAMP);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import java.time.Duration;
import java.util.List;

/**
 * The keys of the plugin, in Spark's configuration. Any other key {@code spark.crail.x} there sets
 * the key {@code crail.x} of the store.
 */
public final class SparkKeys implements ConfigKeys {
  /**
   * A key of the plugin for Apache Crail that means nothing here.
   *
   * @param name its name; the letter case does not matter
   * @param now what became of it
   */
  public record Former(String name, String now) {}

  /** All of these keys. An application that sets one is refused. */
  public static final List<Former> FORMER =
      List.of(
          new Former("spark.crail.deleteonclose", "an application always deletes what it has"),
          new Former(
              "spark.crail.deleteonstart",
              "each application has roots of its own, and those of dead ones end by themselves"),
          new Former(
              "spark.crail.preallocate",
              "buffers are made when they are needed, at most spark.crail.cachelimit"),
          new Former(
              "spark.crail.writeAhead", "Crail gives out space ahead of what is written by itself"),
          new Former("spark.crail.debug", "set the level of the logger io.crail"),
          new Former(
              "spark.crail.serializer",
              "shuffles have the serializer that Spark chooses; set spark.serializer"),
          new Former(
              "spark.crail.shuffle.serializer",
              "shuffles have the serializer that Spark chooses; set spark.serializer"),
          new Former(
              "spark.crail.shuffle.sorter",
              "Spark sorts what tasks read; spark.crail.shuffle.writer says who sorts what they"
                  + " write"),
          new Former(
              "spark.crail.shuffle.outstanding",
              "set spark.reducer.maxSizeInFlight and spark.crail.shuffle.fetchthreads"));

  /** The tier of map outputs. */
  public static final ConfigKey<Integer> SHUFFLE_STORAGE_CLASS =
      ConfigKey.of(
              "spark.crail.shuffle.storageclass",
              ConfigType.INT,
              "0",
              "Storage class that is asked first for map outputs; when it is full, the others are"
                  + " asked in their order.")
          .between(0, 255);

  /** Where map outputs lie. */
  public static final ConfigKey<Boolean> LOCATION_AFFINITY =
      ConfigKey.of(
          "spark.crail.shuffle.map.locationaffinity",
          ConfigType.BOOLEAN,
          "true",
          "Whether map outputs go to a datanode on the executor's host, if there is one. Each output"
              + " is on one host in any case, as far as it has room.");

  /** Who writes a map output. */
  public enum Writer {
    /** Crail's own writer where it can be used, else Spark's. */
    AUTO,
    /** Always Spark's. */
    SPARK
  }

  /** Who writes map outputs. */
  public static final ConfigKey<Writer> WRITER =
      ConfigKey.of(
          "spark.crail.shuffle.writer",
          ConfigType.oneOf(Writer.class),
          "auto",
          "Who writes map outputs. With auto, a writer that sorts in memory and has no local files,"
              + " where a serializer with relocatable records, no map-side combine and no"
              + " spark.io.encryption.enabled allow it; with spark, always Spark's writers, which"
              + " have local files.");

  /** Threads that fetch. */
  public static final ConfigKey<Integer> FETCH_THREADS =
      ConfigKey.of(
              "spark.crail.shuffle.fetchthreads",
              ConfigType.INT,
              "2",
              "Threads of an executor that fetch blocks from one host of the store. Each has up to"
                  + " 64 blocks in flight. They end when they are idle.")
          .between(1, 64);

  /** Memory for indexes. */
  public static final ConfigKey<Long> INDEX_CACHE =
      ConfigKey.of(
              "spark.crail.shuffle.indexcache",
              ConfigType.BYTES,
              "64m",
              "Most bytes that an executor uses to remember the indexes of map outputs: 12 for each"
                  + " partition of an output.")
          .between(1 << 20, 1L << 34);

  /** When an output counts as lost. */
  public static final ConfigKey<Duration> PATIENCE =
      ConfigKey.of(
              "spark.crail.shuffle.patience",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "30000",
              "How long an executor asks a host again whose datanode or namenode does not answer,"
                  + " before it reports fetch failures: once for all blocks that its tasks want from"
                  + " there, not for each. Data that are known to be lost are reported at once. A"
                  + " task that finds no free buffer, to read or to write, waits as long.")
          .check(value -> value.isNegative() ? "must not be negative" : null);

  /** The lease of an application. */
  public static final ConfigKey<Duration> LEASE =
      ConfigKey.of(
              "spark.crail.application.lease",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "300000",
              "How long the data of an application stay when all its processes are gone. The"
                  + " namenodes remove them then.")
          .between(Duration.ofSeconds(1), Duration.ofDays(1000));

  /** Which broadcast values go to the store. */
  public static final ConfigKey<Long> BROADCAST_MIN_SIZE =
      ConfigKey.of(
              "spark.crail.broadcast.minsize",
              ConfigType.BYTES,
              "1m",
              "Broadcast values of fewer bytes, serialized and not compressed, are left to Spark.")
          .between(0, 256L << 20);

  /** The tier of broadcast values. */
  public static final ConfigKey<Integer> BROADCAST_STORAGE_CLASS =
      ConfigKey.of(
              "spark.crail.broadcast.storageclass",
              ConfigType.INT,
              "0",
              "Storage class that is asked first for broadcast values; when it is full, the others"
                  + " are asked in their order.")
          .between(0, 255);

  /** How long tasks wait for each other. */
  public static final ConfigKey<Duration> BROADCAST_TIMEOUT =
      ConfigKey.of(
              "spark.crail.broadcast.timeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "300000",
              "How long a task waits while another task of its executor reads the broadcast value"
                  + " that both need.")
          .between(Duration.ofMillis(1), Duration.ofDays(1000));

  @Override
  public String title() {
    return "Spark";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        SHUFFLE_STORAGE_CLASS,
        LOCATION_AFFINITY,
        WRITER,
        FETCH_THREADS,
        INDEX_CACHE,
        PATIENCE,
        LEASE,
        BROADCAST_MIN_SIZE,
        BROADCAST_STORAGE_CLASS,
        BROADCAST_TIMEOUT);
  }
}

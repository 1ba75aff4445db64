/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.client.space.LocationMap;
import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.common.config.Configuration;
import io.crail.protocol.part.TextLimits;
import io.crail.rpc.RpcPeer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The keys that a store reads. */
public final class ClientKeys implements ConfigKeys {
  /** Bytes of a buffer. */
  public static final ConfigKey<Long> BUFFER_SIZE =
      ConfigKey.of(
              "crail.buffersize", ConfigType.BYTES, "1m", "Bytes of a buffer that a store lends.")
          .between(4096, 1 << 28);

  /** Bytes of a slice. */
  public static final ConfigKey<Long> SLICE_SIZE =
      ConfigKey.of(
              "crail.slicesize",
              ConfigType.BYTES,
              "512k",
              "Bytes that a buffered stream moves at a time, at most crail.buffersize; fewer while"
                  + " less than half of all buffers are free. The larger of the two must be a"
                  + " multiple of the smaller. A stream has two slices in flight, or more.")
          .between(512, 1 << 28);

  /** Bytes of all buffers. */
  public static final ConfigKey<Long> CACHE_LIMIT =
      ConfigKey.of(
          "crail.cachelimit",
          ConfigType.BYTES,
          "1g",
          "Most bytes of all buffers of a store, which it lends, and which its buffered streams"
              + " share; they are allocated as they are needed. Also limited by Java's direct"
              + " memory (-XX:MaxDirectMemorySize), which leaves some to connections.");

  /** The deadline of a data operation. */
  public static final ConfigKey<Duration> DATA_TIMEOUT =
      ConfigKey.of(
              "crail.datatimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "10000",
              "Deadline of a read or write. An operation of more than 64 MiB has this time"
                  + " once more for each 64 MiB.")
          .check(value -> value.toMillis() < 1 ? "must be at least 1 ms" : null);

  /** Whether a sync makes bytes durable. */
  public static final ConfigKey<Boolean> DURABLE_SYNC =
      ConfigKey.of(
          "crail.client.durablesync",
          ConfigType.BOOLEAN,
          "false",
          "Whether a sync, and Hadoop's hflush and hsync, also wait until flash has made the bytes"
              + " durable that it keeps in its own memory. Bytes in memory are never durable.");

  /** Patience with datanodes. */
  public static final ConfigKey<Duration> DATANODE_SILENCE =
      ConfigKey.of(
              "crail.client.datanodesilence",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "2000",
              "How long a datanode that is reached over a network may answer nothing, plus"
                  + " one second for each MB of a piece, before a writer asks for space elsewhere."
                  + " Applies only to space that has taken no byte yet, and as long as another"
                  + " datanode has space. On flash other space of the same datanode will do, and a"
                  + " write that finds none fails.")
          .check(value -> value.toMillis() < 1 ? "must be at least 1 ms" : null);

  /** Patience with space to come. */
  public static final ConfigKey<Duration> SPACE_PATIENCE =
      ConfigKey.of(
              "crail.client.spacepatience",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "30000",
              "How long a write to a stream waits, on top of crail.datatimeout, for space that the"
                  + " namenode knows to come: space that rests since others may still use it,"
                  + " datanodes that have not found a new namenode yet, and those that 'crail scale'"
                  + " starts. A store that is simply full refuses a write at once.")
          .between(Duration.ZERO, Duration.ofDays(1));

  /** Patience with a namenode that is away. */
  public static final ConfigKey<Duration> NAMENODE_PATIENCE =
      ConfigKey.of(
              "crail.client.namenodepatience",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              Long.toString(RpcPeer.Options.PATIENCE.toMillis()),
              "How long operations wait for a namenode that refuses connections, since it may be"
                  + " starting again; at most crail.rpctimeout.")
          .between(Duration.ZERO, Duration.ofDays(1));

  /** Number of client loops. */
  public static final ConfigKey<Integer> LOOPS =
      ConfigKey.of(
              "crail.client.loops",
              ConfigType.INT,
              "0",
              "Sets of connections of a store. A thread uses the set that its id selects, and"
                  + " threads that share a set take turns in driving it. 0: as many as there are"
                  + " processors, at most 4.")
          .between(0, 256);

  /** Operations outstanding. */
  public static final ConfigKey<Integer> OUTSTANDING =
      ConfigKey.of(
              "crail.client.outstanding",
              ConfigType.INT,
              "4096",
              "Most operations that are outstanding on one set of connections. A thread that"
                  + " issues one more waits until others have ended.")
          .between(1, 32_768);

  /** This host's name. */
  public static final ConfigKey<String> HOST =
      ConfigKey.of(
              "crail.client.host",
              ConfigType.STRING,
              "",
              "Name or address by which datanodes of this host are known. It gives the"
                  + " location class of a store. Empty: the name that a datanode of this host takes"
                  + " if it is not given one.")
          .check(TextLimits::checkHost);

  /** Host names in block locations. */
  public static final ConfigKey<String> LOCATION_MAP =
      ConfigKey.of(
              "crail.locationmap",
              ConfigType.STRING,
              "",
              "Other names for hosts in block locations: from,to pairs separated by slashes.")
          .check(map -> LocationMap.isWellFormed(map) ? null : "must be from,to/from,to and so on");

  /** Hosts reported for each block. */
  public static final ConfigKey<Integer> SHADOW_REPLICATION =
      ConfigKey.of(
              "crail.shadowreplication",
              ConfigType.INT,
              "1",
              "Hosts that block locations report for each block: the one that has it, and others"
                  + " of the same range, so that schedulers see more choices.")
          .between(1, 64);

  /** Statistics. */
  public static final ConfigKey<Boolean> STATISTICS =
      ConfigKey.of(
          "crail.statistics",
          ConfigType.BOOLEAN,
          "true",
          "Whether the store keeps statistics; without it they are empty.");

  /** Whether a process shares stores. */
  public static final ConfigKey<Boolean> SINGLETON =
      ConfigKey.of(
          "crail.singleton",
          ConfigType.BOOLEAN,
          "false",
          "Whether all stores that a process opens with the same settings are one, which the last"
              + " of them closes. Programs for Apache Crail may rely on it.");

  /** Order of listings. */
  public static final ConfigKey<Boolean> DIRECTORY_RANDOMIZE =
      ConfigKey.of(
          "crail.directoryrandomize",
          ConfigType.BOOLEAN,
          "true",
          "Whether listEntries and multi-file streams take the children of each page in random"
              + " order, so that many readers of one container do not follow each other.");

  /** Directories over all namenodes. */
  public static final ConfigKey<List<String>> SPREAD =
      ConfigKey.of(
              "crail.client.spread",
              ConfigType.LIST,
              "",
              "Paths of directories and tables that are spread over all namenodes when the store"
                  + " creates them, such as /warehouse,/jobs/*; a * stands for one component. None"
                  + " may be below another one. Those that exist stay as they are.")
          .check(SpreadPatterns::refusal);

  /**
   * Bytes that a buffered stream moves at a time.
   *
   * @throws ConfigException when slices and buffers do not fit
   */
  public static int sliceBytes(Configuration configuration) {
    long buffer = configuration.get(BUFFER_SIZE);
    long slice = configuration.get(SLICE_SIZE);
    if (Math.max(buffer, slice) % Math.min(buffer, slice) != 0) {
      throw new ConfigException(
          String.format(
              Locale.ROOT,
              "keys '%s' (%d) and '%s' (%d): the larger must be a multiple of the smaller",
              SLICE_SIZE,
              slice,
              BUFFER_SIZE,
              buffer));
    }
    return (int) Math.min(buffer, slice);
  }

  @Override
  public String title() {
    return "Client";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        BUFFER_SIZE,
        SLICE_SIZE,
        CACHE_LIMIT,
        DATA_TIMEOUT,
        DURABLE_SYNC,
        DATANODE_SILENCE,
        SPACE_PATIENCE,
        NAMENODE_PATIENCE,
        LOOPS,
        OUTSTANDING,
        HOST,
        LOCATION_MAP,
        SHADOW_REPLICATION,
        STATISTICS,
        SINGLETON,
        DIRECTORY_RANDOMIZE,
        SPREAD);
  }
}

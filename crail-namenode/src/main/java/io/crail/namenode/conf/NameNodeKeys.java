/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.conf;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import java.time.Duration;
import java.util.List;

/** The keys that a namenode reads in addition to those of the whole cluster. */
public final class NameNodeKeys implements ConfigKeys {
  /** The most storage classes that there can be. */
  static final int MAX_STORAGE_CLASSES = 256;

  /** The size of a block. */
  public static final ConfigKey<Long> BLOCK_SIZE =
      ConfigKey.of(
              "crail.blocksize",
              ConfigType.BYTES,
              "1m",
              "Bytes of a block, the largest run of bytes that lies in one piece; a power of two."
                  + " Clients and datanodes learn it from the namenode.")
          .check(
              value ->
                  Long.bitCount(value) != 1 || value < Extent.MIN_LENGTH || value > 1L << 30
                      ? "must be a power of two from 4k to 1g"
                      : null);

  /** How long a location or a write lease is valid. */
  public static final ConfigKey<Duration> LEASE =
      ConfigKey.of(
              "crail.lease",
              ConfigType.duration(DurationUnit.SECONDS),
              "10",
              "How long a client may use a location or a write lease without asking again."
                  + " Space that a client may still use is not given to others before.")
          .check(
              value ->
                  value.toMillis() < 100 || value.toMillis() > 3_600_000
                      ? "must be between 100 ms and 1 hour"
                      : null);

  /** How long freed space rests after the end of a lease. */
  public static final ConfigKey<Duration> FREE_MARGIN =
      ConfigKey.of(
              "crail.namenode.freemargin",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "6000",
              "How long space rests after the end of the lease on it, because requests may"
                  + " still be in flight. Keep it longer than a datanode waits for the bytes of a"
                  + " write.")
          .check(
              value ->
                  value.toMillis() < 0 || value.toMillis() > 3_600_000
                      ? "must be between 0 and 1 hour"
                      : null);

  /** How many storage classes there are. */
  public static final ConfigKey<Integer> STORAGE_CLASSES =
      ConfigKey.of(
              "crail.storage.classes",
              ConfigType.INT,
              "8",
              "Number of storage classes, counted from 0; datanodes and nodes of a higher class are"
                  + " refused.")
          .between(1, MAX_STORAGE_CLASSES);

  /** The storage class of the root. */
  public static final ConfigKey<Integer> ROOT_CLASS =
      ConfigKey.of(
              "crail.storage.rootclass",
              ConfigType.INT,
              "0",
              "Storage class of the root, and so of every node that does not name one.")
          .between(0, MAX_STORAGE_CLASSES - 1);

  /** The classes that give space to a node when its own class is full. */
  public static final ConfigKey<List<String>> SPILL_ORDER =
      ConfigKey.of(
              "crail.storage.spillorder",
              ConfigType.LIST,
              "",
              "Storage classes, separated by commas, that are tried in this order when a"
                  + " node's own class is full. Empty: all others, first those after it in ascending"
                  + " order, then those before it.")
          .check(NameNodeKeys::refuseSpillOrder);

  /** Which datanode of a class gives the next space. */
  public static final ConfigKey<String> BLOCK_SELECTION =
      ConfigKey.of(
          "crail.namenode.blockselection",
          ConfigType.STRING,
          "roundrobin",
          "Which datanode of a storage class gets the next piece of data: roundrobin, random,"
              + " sequential (fills one after the other), mostfree, freeroftwo (the one with more"
              + " free space of two at random), or the name of a policy on the class path.");

  /** How many write leases there can be. */
  public static final ConfigKey<Integer> MAX_LEASES =
      ConfigKey.of(
              "crail.namenode.maxleases",
              ConfigType.INT,
              "4000000",
              "Most write leases at a time, over all clients; one takes about 60 bytes.")
          .between(1, Integer.MAX_VALUE);

  /** How much heap everything may take that the namenode keeps for its clients. */
  public static final ConfigKey<Long> MEMORY =
      ConfigKey.of(
          "crail.namenode.memory",
          ConfigType.BYTES,
          "0",
          "Most heap that a namenode uses for what it keeps: nodes with their names, extents,"
              + " leases, users, datanodes. 0: three quarters of its heap above the first 16"
              + " MiB. What needs more is refused; what is there is served and can be removed.");

  /** How large a value may be that is held by the namenode. */
  public static final ConfigKey<Long> SMALL_VALUE =
      ConfigKey.of(
              "crail.namenode.smallvalue",
              ConfigType.BYTES,
              "64k",
              "Most bytes of a key-value that the namenode holds itself, so that a put or a"
                  + " get takes one request; 0 for none. Clients learn it from the namenode.")
          .between(0, SmallValue.MAX_LENGTH);

  /** Whether small files are kept like small values. */
  public static final ConfigKey<Boolean> SMALL_FILES =
      ConfigKey.of(
          "crail.namenode.smallfiles",
          ConfigType.BOOLEAN,
          "false",
          "Whether the namenode also holds the bytes of data files itself that are no longer than"
              + " crail.namenode.smallvalue, so that they are written with the close, and read with"
              + " the lookup. Their host and storage class count for nothing then. Clients learn it"
              + " from the namenode.");

  /** How much memory small values may take. */
  public static final ConfigKey<Long> SMALL_VALUES =
      ConfigKey.of(
          "crail.namenode.smallvalues",
          ConfigType.BYTES,
          "0",
          "Most memory outside the heap that small values take at a namenode; each is rounded up, by"
              + " a fifth at most. 0: a quarter of what Java allocates outside the heap"
              + " (-XX:MaxDirectMemorySize). Values that do not fit are kept at datanodes.");

  /** Which operations are logged as slow. */
  public static final ConfigKey<Duration> SLOW_OPERATION =
      ConfigKey.of(
          "crail.namenode.slowoperation",
          ConfigType.duration(DurationUnit.MILLISECONDS),
          "0",
          "A namenode logs operations that it works on for at least this long, with client and"
              + " path or node; 0 for none. Several requests of a client that it serves in one go"
              + " count together.");

  /** What is done so that the metadata survive the end of a namenode. */
  public static final ConfigKey<Durability> DURABILITY =
      ConfigKey.of(
          "crail.namenode.durability",
          ConfigType.oneOf(Durability.class),
          "none",
          "Whether the metadata survive the end of a namenode. none: a namenode that starts is empty."
              + " sync: each change is in its log before it is answered, and the next start reads"
              + " the log. async: it is in its log soon after, and a crash loses the last changes.");

  /** How much may be lost. */
  public static final ConfigKey<Duration> LOG_DELAY =
      ConfigKey.of(
              "crail.namenode.logdelay",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "1000",
              "With crail.namenode.durability async: a crash of a namenode loses changes of at most"
                  + " such a span of time, the last ones. They are written at once. While one is not"
                  + " on the disk after this time, further ones are refused.")
          .check(
              value ->
                  value.toMillis() < 10 || value.toMillis() > 60_000
                      ? "must be between 10 ms and 1 minute"
                      : null);

  /** Where a namenode keeps its log. */
  public static final ConfigKey<String> DATA_PATH =
      ConfigKey.of(
          "crail.namenode.datapath",
          ConfigType.STRING,
          "",
          "Parent of the directory in which a namenode keeps its log, namenode-<index>. Must be set"
              + " unless crail.namenode.durability is none.");

  /** When a snapshot takes the place of a log. */
  public static final ConfigKey<Integer> SNAPSHOT_RECORDS =
      ConfigKey.of(
              "crail.namenode.snapshotrecords",
              ConfigType.INT,
              "100000",
              "A snapshot takes the place of files of the log that are full when they have at least"
                  + " this many records, and half as many as there are nodes. The next start reads"
                  + " the snapshot, and what follows on it.")
          .between(0, Integer.MAX_VALUE);

  private static String refuseSpillOrder(List<String> classes) {
    for (String text : classes) {
      try {
        int number = Integer.parseInt(text);
        if (number >= 0 && number < MAX_STORAGE_CLASSES) {
          continue;
        }
      } catch (NumberFormatException e) {
        // Falls through to the one message below.
      }
      return "must be storage classes separated by commas";
    }
    return null;
  }

  @Override
  public String title() {
    return "Namenode";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        BLOCK_SIZE,
        LEASE,
        FREE_MARGIN,
        STORAGE_CLASSES,
        ROOT_CLASS,
        SPILL_ORDER,
        BLOCK_SELECTION,
        MAX_LEASES,
        MEMORY,
        SMALL_VALUE,
        SMALL_FILES,
        SMALL_VALUES,
        SLOW_OPERATION,
        DURABILITY,
        LOG_DELAY,
        DATA_PATH,
        SNAPSHOT_RECORDS);
  }
}

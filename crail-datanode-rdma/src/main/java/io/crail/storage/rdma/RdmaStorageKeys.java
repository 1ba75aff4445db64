/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.protocol.Extent;
import io.crail.storage.LocalHost;
import java.time.Duration;
import java.util.List;

/** The keys of the RDMA tier. */
public final class RdmaStorageKeys implements ConfigKeys {
  /** Where to serve. */
  public static final ConfigKey<String> INTERFACE =
      ConfigKey.of(
              "crail.storage.rdma.interface",
              ConfigType.STRING,
              LocalHost.AUTO,
              "Network interface, host name or address that a datanode serves on, and so its RDMA"
                  + " device; auto: the address from which it reaches the namenode.")
          .check(value -> value.isEmpty() ? "must not be empty" : null);

  /** The port. */
  public static final ConfigKey<Integer> PORT =
      ConfigKey.of(
              "crail.storage.rdma.port",
              ConfigType.INT,
              "50030",
              "Port that a datanode serves on; 0 takes any free one.")
          .between(0, 65535);

  /** What a datanode lends. */
  public static final ConfigKey<Long> STORAGE_LIMIT =
      ConfigKey.of(
              "crail.storage.rdma.storagelimit",
              ConfigType.BYTES,
              "1g",
              "Bytes that a datanode lends to the cluster. All of it is locked in memory, so the"
                  + " limit of locked memory (ulimit -l) must allow it.")
          .between(Extent.MIN_LENGTH, 1L << 50);

  /** The size of a region. */
  public static final ConfigKey<Long> ALLOCATION_SIZE =
      ConfigKey.of(
              "crail.storage.rdma.allocationsize",
              ConfigType.BYTES,
              "256m",
              "Bytes of a region, the unit in which memory is registered and lent; less where the"
                  + " storage limit would not give each namenode a region.")
          .between(Extent.MIN_LENGTH, 1 << 30);

  /** The parent of a datanode's directory. */
  public static final ConfigKey<String> DATA_PATH =
      ConfigKey.of(
          "crail.storage.rdma.datapath",
          ConfigType.STRING,
          "",
          "Directory under which a datanode makes a directory for its regions: one in memory, or a"
              + " mount of huge pages such as /dev/hugepages; empty: one of the user's under"
              + " /dev/shm.");

  /** The most connections of a datanode. */
  public static final ConfigKey<Integer> CONNECTION_LIMIT =
      ConfigKey.of(
              "crail.storage.rdma.connections",
              ConfigType.INT,
              "4096",
              "The most connections of a datanode, each a queue pair; one more is refused.")
          .between(1, 1 << 18);

  /** How often a datanode asks whether a client lives. */
  public static final ConfigKey<Duration> KEEP_ALIVE =
      ConfigKey.of(
              "crail.storage.rdma.keepalive",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "5s",
              "How often a datanode writes nothing to each of its clients, to notice those whose"
                  + " host has vanished and let their connections go, after three times at most.")
          .check(
              value ->
                  value.toMillis() < 100 || value.toMillis() > 600_000
                      ? "must be between 100 ms and 10 minutes"
                      : null);

  /** The most transfers in flight. */
  public static final ConfigKey<Integer> QUEUE_DEPTH =
      ConfigKey.of(
              "crail.storage.rdma.queuedepth",
              ConfigType.INT,
              "32",
              "Transfers that a client keeps in flight on its connection to one datanode; more wait"
                  + " in the client.")
          .between(1, 4096);

  /** The deadline of a connection attempt. */
  public static final ConfigKey<Duration> CONNECT_TIMEOUT =
      ConfigKey.of(
              "crail.storage.rdma.connecttimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "2s",
              "Deadline of one attempt to connect to a datanode.")
          .check(
              value ->
                  value.toMillis() < 1 || value.toMillis() > 600_000
                      ? "must be between 1 ms and 10 minutes"
                      : null);

  /** When a write counts as done. */
  public static final ConfigKey<Boolean> WRITE_FLUSH =
      ConfigKey.of(
          "crail.storage.rdma.writeflush",
          ConfigType.BOOLEAN,
          "true",
          "Whether the writes of a batch are followed by a read of one byte, which comes back when"
              + " they are placed in the datanode's memory; without it a write counts as done when"
              + " the datanode's device has acknowledged it, which some devices do earlier.");

  /** Up to which length bytes are copied rather than registered. */
  public static final ConfigKey<Integer> COPY_LIMIT =
      ConfigKey.of(
              "crail.storage.rdma.copylimit",
              ConfigType.INT,
              "4096",
              "Bytes up to which a transfer from or to memory that is not registered goes through"
                  + " registered memory of the client's own; 0 registers all.")
          .between(0, 1 << 20);

  /** How much user memory a client keeps registered. */
  public static final ConfigKey<Long> REGISTRATION_LIMIT =
      ConfigKey.of(
              "crail.storage.rdma.registrationlimit",
              ConfigType.BYTES,
              "1g",
              "Bytes of users' memory that a client keeps registered with each device, of one loop;"
                  + " what was not used for longest makes room. The limit of locked memory"
                  + " (ulimit -l) applies as well.")
          .between(1 << 20, 1L << 50);

  /** Creates the list of keys; for {@link java.util.ServiceLoader}. */
  public RdmaStorageKeys() {}

  @Override
  public String title() {
    return "RDMA tier";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        INTERFACE,
        PORT,
        STORAGE_LIMIT,
        ALLOCATION_SIZE,
        DATA_PATH,
        CONNECTION_LIMIT,
        KEEP_ALIVE,
        QUEUE_DEPTH,
        CONNECT_TIMEOUT,
        WRITE_FLUSH,
        COPY_LIMIT,
        REGISTRATION_LIMIT);
  }
}

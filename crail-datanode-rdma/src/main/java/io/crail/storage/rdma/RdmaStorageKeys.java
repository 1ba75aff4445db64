/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.storage.host.HostKeys;
import io.crail.storage.host.TierKeys;
import java.time.Duration;
import java.util.List;

/** The keys of the RDMA tier. */
public final class RdmaStorageKeys implements ConfigKeys {
  /** The short name of the tier. */
  static final String TIER = "rdma";

  /** Where to serve. */
  public static final ConfigKey<String> INTERFACE =
      TierKeys.networkInterface(
          TIER,
          "Network interface, host name or address that a datanode serves on, and so its RDMA"
              + " device; auto: the address from which it reaches the namenode.");

  /** The port. */
  public static final ConfigKey<Integer> PORT = TierKeys.port(TIER, 50030);

  /** What a datanode lends. */
  public static final ConfigKey<Long> STORAGE_LIMIT =
      TierKeys.storageLimit(
          TIER,
          "Bytes that a datanode lends to the cluster. All of it is locked in memory, so the"
              + " limit of locked memory (ulimit -l) must allow it.");

  /** The size of a region. */
  public static final ConfigKey<Long> ALLOCATION_SIZE =
      TierKeys.allocationSize(
          TIER,
          "Bytes of a region, the unit in which memory is registered and lent; less where the"
              + " storage limit would not give each namenode a region.");

  /** The parent of a datanode's directory. */
  public static final ConfigKey<String> DATA_PATH =
      TierKeys.dataPath(
          TIER,
          "Directory under which a datanode makes a directory for its regions: one in memory, or a"
              + " mount of huge pages such as /dev/hugepages; empty: one of the user's under"
              + " /dev/shm.");

  /** The keys by which a datanode lends memory of its host. */
  public static final HostKeys HOST =
      new HostKeys(TIER, INTERFACE, PORT, STORAGE_LIMIT, ALLOCATION_SIZE, DATA_PATH);

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
              "How often a datanode sends each of its clients an RDMA write of zero bytes, to notice"
                  + " those whose host has vanished and let their connections go, after three times"
                  + " at most.")
          .between(Duration.ofMillis(100), Duration.ofMinutes(10));

  /** The most transfers in flight. */
  public static final ConfigKey<Integer> QUEUE_DEPTH = TierKeys.queueDepth(TIER);

  /** The deadline of a connection attempt. */
  public static final ConfigKey<Duration> CONNECT_TIMEOUT =
      TierKeys.connectTimeout(TIER, "Deadline of one attempt to connect to a datanode.");

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

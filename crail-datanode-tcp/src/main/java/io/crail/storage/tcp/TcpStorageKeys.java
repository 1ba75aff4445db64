/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.storage.host.HostKeys;
import io.crail.storage.host.TierKeys;
import java.time.Duration;
import java.util.List;

/** The keys of the TCP tier. */
public final class TcpStorageKeys implements ConfigKeys {
  /** The short name of the tier. */
  static final String TIER = "tcp";

  /** Where the bytes of the regions lie. */
  public enum Memory {
    /** In mapped files, which the clients of the same host map too. */
    FILE,
    /** In the datanode's own memory. */
    ANONYMOUS
  }

  /** Where to serve. */
  public static final ConfigKey<String> INTERFACE =
      TierKeys.networkInterface(
          TIER,
          "Network interface, host name or address that a datanode serves on; auto: the address"
              + " from which it reaches the namenode.");

  /** The port. */
  public static final ConfigKey<Integer> PORT = TierKeys.port(TIER, 50020);

  /** What a datanode lends. */
  public static final ConfigKey<Long> STORAGE_LIMIT =
      TierKeys.storageLimit(TIER, "Bytes that a datanode lends to the cluster.");

  /** The size of a region. */
  public static final ConfigKey<Long> ALLOCATION_SIZE =
      TierKeys.allocationSize(
          TIER,
          "Bytes of a region, the unit in which memory is lent; less where the storage limit"
              + " would not give each namenode a region.");

  /** The parent of a datanode's directory. */
  public static final ConfigKey<String> DATA_PATH =
      TierKeys.dataPath(
          TIER,
          "Directory under which a datanode makes a directory for its regions; empty: one of the"
              + " user's under /dev/shm, or under the directory for temporary files on systems"
              + " without.");

  /** The kind of memory. */
  public static final ConfigKey<Memory> MEMORY =
      ConfigKey.of(
          "crail.storage.tcp.memory",
          ConfigType.oneOf(Memory.class),
          "file",
          "Where the bytes of the regions lie: in mapped files, which clients on the same host map"
              + " too, or anonymously in the datanode's process, within its limit of direct memory.");

  /** When memory is taken. */
  public static final ConfigKey<Boolean> PREALLOCATE =
      ConfigKey.of(
          "crail.storage.tcp.preallocate",
          ConfigType.BOOLEAN,
          "false",
          "Whether a datanode takes all memory of its regions at its start. Without it the files are"
              + " mapped whole but sparse, and grow as pages are first written; should the file"
              + " system have run full by then, the writes that need new pages fail with a"
              + " NoSpaceException, while what was written stays readable.");

  /** The event loops of a datanode. */
  public static final ConfigKey<Integer> CORES =
      ConfigKey.of(
              "crail.storage.tcp.cores",
              ConfigType.INT,
              "0",
              "Event loops of a datanode, each with its own connections; 0 means one per"
                  + " processor.")
          .between(0, 1024);

  /** The keys by which a datanode lends memory of its host. */
  public static final HostKeys HOST =
      new HostKeys(TIER, INTERFACE, PORT, STORAGE_LIMIT, ALLOCATION_SIZE, DATA_PATH);

  /** The most connections of a datanode. */
  public static final ConfigKey<Integer> CONNECTION_LIMIT =
      ConfigKey.of(
              "crail.storage.tcp.connections",
              ConfigType.INT,
              "16384",
              "The most connections of a datanode; one more is closed at once.")
          .between(1, 1 << 20);

  /** How long the data of a write may take. */
  public static final ConfigKey<Duration> WRITE_TIMEOUT =
      ConfigKey.of(
              "crail.storage.tcp.writetimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "5s",
              "How long the data of a write may take to arrive after its header before the"
                  + " datanode closes the connection; namenodes rely on at most 5 s.")
          .between(Duration.ofMillis(10), Duration.ofSeconds(5));

  /** The most transfers in flight. */
  public static final ConfigKey<Integer> QUEUE_DEPTH = TierKeys.queueDepth(TIER);

  /** The deadline of a connection attempt. */
  public static final ConfigKey<Duration> CONNECT_TIMEOUT =
      TierKeys.connectTimeout(
          TIER, "Deadline of one attempt to connect to a datanode, handshake included.");

  @Override
  public String title() {
    return "TCP tier";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        INTERFACE,
        PORT,
        STORAGE_LIMIT,
        ALLOCATION_SIZE,
        DATA_PATH,
        MEMORY,
        PREALLOCATE,
        CORES,
        CONNECTION_LIMIT,
        WRITE_TIMEOUT,
        QUEUE_DEPTH,
        CONNECT_TIMEOUT);
  }
}

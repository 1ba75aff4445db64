/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Addresses;
import io.crail.common.NamenodeAddresses;
import io.crail.common.ProcessUser;
import io.crail.common.Utf8;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.common.config.Configuration;
import io.crail.protocol.part.TextLimits;
import io.crail.rpc.TransportProvider;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The keys that every process of a cluster reads. */
public final class ClusterKeys implements ConfigKeys {
  /** Where the namenodes are. */
  public static final ConfigKey<NamenodeAddresses> NAMENODE_ADDRESS =
      ConfigKey.of(
              "crail.namenode.address",
              ConfigType.ADDRESSES,
              "crail://localhost:9060",
              "Addresses of the namenodes, separated by commas, in the same order everywhere; a"
                  + " node's first path component decides which of them owns it. A namenode with"
                  + " standbys has several, separated by bars: a:9060|b:9060|c:9060.")
          .check(list -> list.size() == 0 ? "must name a namenode" : null)
          .check(list -> list.size() > 256 ? "must name at most 256 namenodes" : null)
          .check(ClusterKeys::refuseTwice);

  /** The cluster's name. */
  public static final ConfigKey<String> CLUSTER_NAME =
      ConfigKey.of(
              "crail.cluster.name",
              ConfigType.STRING,
              "crail",
              "Name of the cluster; clients and datanodes refuse a namenode that has another one.")
          .check(
              name -> name.isEmpty() || name.length() > 80 ? "must have 1 to 80 characters" : null);

  /** The owner of new nodes. */
  public static final ConfigKey<String> USER =
      ConfigKey.of(
              "crail.user",
              ConfigType.STRING,
              "",
              "Owner of the nodes that a client creates; at a namenode, the owner"
                  + " of the root. Empty: the user of the process; under Hadoop, Hadoop's user.")
          .check(user -> user.isEmpty() ? null : TextLimits.checkUser(Utf8.of(user)));

  /** The deadline of a metadata operation. */
  public static final ConfigKey<Duration> RPC_TIMEOUT =
      ConfigKey.of(
              "crail.rpctimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "10000",
              "Deadline of a metadata operation, reconnecting included.")
          .check(value -> value.toMillis() < 1 ? "must be at least 1 ms" : null);

  /** How often a datanode reports to the namenodes that it is alive. */
  public static final ConfigKey<Duration> KEEP_ALIVE =
      ConfigKey.of(
              "crail.storage.keepalive",
              ConfigType.duration(DurationUnit.SECONDS),
              "2",
              "Pause between two signs of life of a datanode; it counts as offline after eight of"
                  + " them without one.")
          .check(
              value ->
                  value.toMillis() < 10 || value.toMillis() > 3_600_000
                      ? "must be between 10 ms and 1 hour"
                      : null);

  /** Signs of life that a datanode may miss before it counts as offline. */
  public static final int MISSED_KEEP_ALIVES = 8;

  /** Port 0 means any free port, so several namenodes may have it. */
  private static String refuseTwice(NamenodeAddresses addresses) {
    Set<InetSocketAddress> seen = new HashSet<>();
    for (InetSocketAddress address : addresses.all()) {
      if (address.getPort() != 0 && !seen.add(address)) {
        return "must name each namenode once, but names " + Addresses.text(address) + " twice";
      }
    }
    return null;
  }

  /** {@link #USER}, or the user of the process. */
  public static String user(Configuration configuration) {
    String user = configuration.get(USER);
    return user.isEmpty() ? ProcessUser.name() : user;
  }

  @Override
  public String title() {
    return "Cluster";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        NAMENODE_ADDRESS, CLUSTER_NAME, USER, TransportProvider.RPC_TYPE, RPC_TIMEOUT, KEEP_ALIVE);
  }
}

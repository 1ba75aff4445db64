/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.config.Configuration;
import io.crail.storage.host.HostKeys;
import io.crail.storage.rdma.RdmaStorageKeys;
import io.crail.storage.tcp.TcpStorageKeys;
import java.util.List;

/**
 * A datanode that is to run on this host.
 *
 * @param tier its tier
 * @param place the directory in which it keeps what it lends; empty when it keeps that elsewhere
 * @param bytes how much it lends of this host's memory or files
 * @param networkInterface where it serves; empty when it serves nothing itself
 * @param port the port there, 0 for any
 */
record LocalDatanode(String tier, String place, long bytes, String networkInterface, int port) {
  /** By the configuration, and the arguments of its tier. */
  static LocalDatanode of(String tier, Configuration configuration, List<String> arguments) {
    switch (tier) {
      case "tcp":
        boolean inFiles = configuration.get(TcpStorageKeys.MEMORY) == TcpStorageKeys.Memory.FILE;
        return of(TcpStorageKeys.HOST, configuration, arguments, inFiles);
      case "rdma":
        return of(RdmaStorageKeys.HOST, configuration, arguments, true);
      default:
        return new LocalDatanode(tier, "", 0, "", 0);
    }
  }

  private static LocalDatanode of(
      HostKeys keys, Configuration configuration, List<String> arguments, boolean inFiles) {
    Configuration own = keys.arguments().apply(configuration, arguments);
    String path = own.get(keys.dataPath());
    String place = !inFiles ? "" : path.isEmpty() ? "/dev/shm" : path;
    return new LocalDatanode(
        keys.tier(),
        place,
        own.get(keys.storageLimit()),
        own.get(keys.networkInterface()),
        own.get(keys.port()));
  }
}

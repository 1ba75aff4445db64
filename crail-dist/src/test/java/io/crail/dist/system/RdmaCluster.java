/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import java.util.LinkedHashMap;
import java.util.Map;

/** Clusters of processes on the second device of the test machine; clients are on the first. */
final class RdmaCluster {
  /** The address of the servers. */
  static final String HOST = "10.9.0.2";

  private RdmaCluster() {}

  /** Starts namenodes, and no datanode yet. */
  static ProcessCluster start(int namenodes, String... more) throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.namenode.rpctype", "darpc");
    settings.put("crail.storage.types", "rdma,tcp");
    settings.put("crail.storage.rdma.interface", HOST);
    settings.put("crail.storage.tcp.interface", HOST);
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return ProcessCluster.start(HOST, namenodes, 0, settings);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.Addresses;
import io.crail.dist.admin.AdminClient;
import io.crail.protocol.cluster.ReportDatanodes.Datanode;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Where datanodes are, or were, by their ids. A namenode knows a datanode that is gone until its
 * last file is deleted. Used by one thread.
 */
final class DatanodeNames {
  private final AdminClient cluster;
  private final Map<Integer, String> addresses = new HashMap<>();

  DatanodeNames(AdminClient cluster) {
    this.cluster = cluster;
  }

  /** Asks a namenode for its datanodes. */
  void ask(int index) throws IOException, InterruptedException {
    for (Datanode datanode : cluster.datanodes(index)) {
      addresses.put(datanode.id(), Addresses.text(datanode.host().toString(), datanode.port()));
    }
  }

  /** Host and port of a datanode, as other commands name it; its id if no namenode knows it. */
  String of(int datanode) {
    return addresses.getOrDefault(datanode, String.valueOf(datanode));
  }
}

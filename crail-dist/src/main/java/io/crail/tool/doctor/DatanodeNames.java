/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.Addresses;
import io.crail.protocol.cluster.ReportDatanodes.Datanode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Where datanodes are, or were, by their ids. A namenode knows a datanode that is gone until its
 * last file is deleted. Used by one thread.
 */
final class DatanodeNames {
  private final Map<Integer, String> addresses = new HashMap<>();

  /** Adds the datanodes of a namenode. */
  void add(List<Datanode> datanodes) {
    datanodes.forEach(each -> addresses.put(each.id(), address(each)));
  }

  /** Host and port of a datanode, as other commands name it; its id if no namenode knows it. */
  String of(int datanode) {
    return addresses.getOrDefault(datanode, String.valueOf(datanode));
  }

  static String address(Datanode datanode) {
    return Addresses.text(datanode.host().toString(), datanode.port());
  }
}

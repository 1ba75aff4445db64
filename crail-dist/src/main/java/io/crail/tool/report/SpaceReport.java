/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.protocol.part.ClassUsage;
import java.util.List;

/**
 * The space of a cluster, class by class.
 *
 * @param classes the space of each storage class that has datanodes, ascending
 * @param objects files, directories, tables and so on, without the root
 * @param smallValueBytes memory of the namenodes that small values take
 * @param datanodes the datanodes that are registered
 * @param onlineDatanodes those that are in use and have been heard of lately
 * @param drainingDatanodes those that are being removed and have been heard of lately
 * @param missing the namenodes whose parts are missing, each with the reason
 */
public record SpaceReport(
    List<ClassUsage> classes,
    long objects,
    long smallValueBytes,
    int datanodes,
    int onlineDatanodes,
    int drainingDatanodes,
    List<String> missing)
    implements PartialReport {
  /** The space in a report on the whole cluster. */
  public static SpaceReport of(ClusterReport cluster) {
    return new SpaceReport(
        cluster.classes(),
        cluster.objects(),
        cluster.smallValueBytes(),
        cluster.members().size(),
        cluster.onlineDatanodes(),
        cluster.drainingDatanodes(),
        cluster.missing());
  }

  @Override
  public void print(ReportText text) {
    if (classes.isEmpty()) {
      text.line("there is no space: no datanode is registered");
      text.line("  start one with 'crail datanode', or name hosts in conf/datanodes: start-crail");
    } else {
      TextTable table = new TextTable("class", "capacity", "used", "free", "waiting", "largest");
      for (ClassUsage usage : classes) {
        table.row(
            usage.storageClass(),
            text.size(usage.capacityBytes()),
            text.size(usage.usedBytes()),
            text.size(usage.freeBytes()),
            text.size(usage.waitingBytes()),
            text.size(usage.largestFreeExtentBytes()));
      }
      table.print(text);
    }
    text.line(
        "%s (files, directories, tables, key-values), %s",
        ReportText.count(objects, "node"),
        ClusterReport.datanodes(onlineDatanodes, drainingDatanodes, datanodes));
    if (smallValueBytes > 0) {
      text.line("%s of small values at the namenodes", text.size(smallValueBytes));
    }
    long lost = classes.stream().mapToLong(ClassUsage::lostBytes).sum();
    if (lost > 0) {
      text.line(
          "%s of space lost with datanodes that are gone; 'crail fsck' names the files",
          text.size(lost));
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.report;

import java.util.List;

/**
 * The datanodes of a cluster.
 *
 * @param datanodes all datanodes, those that are gone as long as files have bytes there
 * @param missing the namenodes whose parts are missing, each with the reason
 */
public record DatanodesReport(List<DatanodeReport> datanodes, List<String> missing)
    implements PartialReport {
  /** The datanodes in a report on the whole cluster. */
  public static DatanodesReport of(ClusterReport cluster) {
    return new DatanodesReport(cluster.datanodes(), cluster.missing());
  }

  @Override
  public void print(ReportText text) {
    TextTable table =
        new TextTable("-datanode", "-tier", "class", "lends", "used", "free", "-address", "-state");
    for (DatanodeReport each : datanodes) {
      table.row(
          each.uuid(),
          each.tier(),
          each.storageClass(),
          text.size(each.lentBytes()),
          text.size(each.usedBytes()),
          text.size(each.freeBytes()),
          each.address(),
          each.standing(text));
    }
    table.print(text);
  }
}

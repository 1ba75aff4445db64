/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The datanodes of a cluster.
 *
 * @param datanodes all datanodes, those that are gone as long as files have bytes there
 * @param latencies how long they take to answer this host; empty if that was not asked for
 * @param missing the namenodes whose parts are missing, each with the reason
 */
public record DatanodesReport(
    List<DatanodeReport> datanodes, List<DatanodeLatency> latencies, List<String> missing)
    implements PartialReport {
  /** The datanodes in a report on the whole cluster. */
  public static DatanodesReport of(ClusterReport cluster) {
    return of(cluster, List.of());
  }

  /** The same with latencies. */
  public static DatanodesReport of(ClusterReport cluster, List<DatanodeLatency> latencies) {
    return new DatanodesReport(cluster.datanodes(), latencies, cluster.missing());
  }

  @Override
  public void print(ReportText text) {
    Map<UUID, DatanodeLatency> byDatanode =
        latencies.stream().collect(Collectors.toMap(DatanodeLatency::uuid, Function.identity()));
    List<String> headers =
        new ArrayList<>(List.of("-datanode", "-state", "-tier", "class", "lends", "used", "free"));
    if (!latencies.isEmpty()) {
      headers.add("-answers in");
    }
    TextTable table = new TextTable(headers.toArray(String[]::new));
    for (DatanodeReport each : datanodes) {
      List<Object> cells =
          new ArrayList<>(
              List.of(
                  each.address(),
                  each.standing(text),
                  each.tier(),
                  each.storageClass(),
                  text.size(each.lentBytes()),
                  text.size(each.usedBytes()),
                  text.size(each.freeBytes())));
      if (!latencies.isEmpty()) {
        DatanodeLatency latency = byDatanode.get(each.uuid());
        cells.add(latency == null ? "-" : latency.text());
      }
      table.row(cells.toArray());
    }
    table.print(text);
  }
}

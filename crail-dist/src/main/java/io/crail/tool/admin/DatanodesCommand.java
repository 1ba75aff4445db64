/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.report.ClusterReport;
import io.crail.tool.report.DatanodesReport;
import io.crail.tool.report.Display;
import io.crail.tool.report.LatencyQuery;
import io.crail.tool.report.ReportCommand;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Lists the datanodes of all namenodes. */
public final class DatanodesCommand extends ReportCommand {
  /** Declares its options. */
  public DatanodesCommand() {
    super(
        "datanodes",
        "lists the datanodes",
        """
        States: online; draining, which is being removed; impaired, which is alive and has lost a
        target of NVMe over Fabrics; offline, which says nothing and may come back; lost, which is
        gone with bytes of files. With --latency it also says how long each takes to answer this host
        over the network, and marks those that take far longer than the median of their storage
        class. It asks for 4 KiB nine times and shows the median; a refusal counts as an answer.
        """,
        bytes(),
        flag("l", "latency", "also read a little of each, and show how long it takes"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail datanodes", "all datanodes, with address, state and use"),
        new Example("crail datanodes --latency", "also which of them are slow, for this host"),
        new Example("crail datanodes --watch 5s", "how a datanode becomes empty"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    try (AdminClient cluster = AdminClient.of(context)) {
      boolean latency = line.hasOption("l");
      return display.show(() -> ask(cluster, latency));
    }
  }

  private static DatanodesReport ask(AdminClient cluster, boolean latency) throws Exception {
    ClusterReport report = cluster.report();
    return latency
        ? DatanodesReport.of(report, LatencyQuery.of(cluster.configuration(), report))
        : DatanodesReport.of(report);
  }
}

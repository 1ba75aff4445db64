/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.CrailStore;
import io.crail.common.Threads;
import io.crail.conf.CrailConfiguration;
import io.crail.spark.application.Applications;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.report.ClusterReport;
import io.crail.tool.report.Display;
import io.crail.tool.report.ReportCommand;
import io.crail.tool.report.WholeReport;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.commons.cli.CommandLine;

/** Shows all of a cluster in one view. */
public final class WholeReportCommand extends ReportCommand {
  /** Declares its options. */
  public WholeReportCommand() {
    super(
        "report",
        "shows all of the cluster in one view",
        """
Namenodes, datanodes with use and state, space by storage class, files and write leases, and
what the ten applications of Spark hold that hold most.
""",
        bytes());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail report", "everything at a glance"),
        new Example("crail report --watch", "the same every 2 s, until Ctrl-C"),
        new Example("crail report --json", "for programs, such as jq"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    try (AdminClient cluster = AdminClient.of(context);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      Applications applications = ApplicationsCommand.of(store, cluster.configuration());
      return display.show(() -> ask(cluster, applications));
    }
  }

  /** Asks for both at the same time, so that they wait together for a namenode that hangs. */
  private static WholeReport ask(AdminClient cluster, Applications applications) throws Exception {
    FutureTask<Applications.Report> held = new FutureTask<>(applications::list);
    Threads.daemon("crail-applications", held).start();
    ClusterReport report = cluster.report();
    try {
      return WholeReport.of(report, held.get());
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.tool.admin.AdminClient;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.report.Display;
import io.crail.tool.report.ReportCommand;
import io.crail.tool.report.StatusReport;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Says in short whether the cluster is healthy. */
public final class StatusCommand extends ReportCommand {
  /** Declares its options. */
  public StatusCommand() {
    super(
        "status",
        "says in short whether the cluster is healthy, or what is wrong",
        """
        Exit code 0 means healthy: all namenodes and their standbys answer, all datanodes are online
        and reach their targets, no bytes of files are lost. Else it is 1. 'crail doctor' also looks
        at this host.
        """,
        bytes());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail status", "healthy, or what is wrong and what to do about it"),
        new Example("crail status --watch 10s", "the same every 10 s"),
        new Example("crail status --json", "for a monitor; the exit code says it too"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    try (AdminClient cluster = AdminClient.of(context)) {
      return display.show(() -> StatusReport.of(cluster.reportAnyway()));
    }
  }
}

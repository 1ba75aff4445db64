/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.report.Display;
import io.crail.tool.report.ReportCommand;
import io.crail.tool.report.SpaceReport;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Shows the space of the cluster, class by class. */
public final class UsageCommand extends ReportCommand {
  /** Declares its options. */
  public UsageCommand() {
    super(
        "df",
        "shows space by storage class, and counts files and datanodes",
        """
        Waiting is space that was freed and may be used again when leases have ended.
        Largest is the largest extent that could be given out now.
        """,
        bytes());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail df", "space by storage class"),
        new Example("crail df --watch", "again every 2 s, until Ctrl-C"),
        new Example("crail df --json", "in plain numbers of bytes, for programs"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    try (AdminClient cluster = AdminClient.of(context)) {
      return display.show(() -> SpaceReport.of(cluster.report()));
    }
  }
}

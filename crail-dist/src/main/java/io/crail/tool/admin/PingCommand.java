/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.report.Display;
import io.crail.tool.report.PingReport;
import io.crail.tool.report.ReportCommand;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Asks whether the namenodes are alive. */
public final class PingCommand extends ReportCommand {
  /** Declares its options. */
  public PingCommand() {
    super("ping", "asks every namenode for a sign of life", "Fails when one does not answer.\n");
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail ping", "whether each namenode answers, and how fast"),
        new Example("crail ping --watch 1s", "the same every second"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    try (AdminClient cluster = AdminClient.of(context)) {
      return display.show(() -> new PingReport(cluster.answers()));
    }
  }
}

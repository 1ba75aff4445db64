/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.ClusterKeys;
import io.crail.spark.application.Applications;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.report.ApplicationsReport;
import io.crail.tool.report.Display;
import io.crail.tool.report.ReportCommand;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Shows what Spark's applications hold. */
public final class ApplicationsCommand extends ReportCommand {
  /** Declares its options. */
  public ApplicationsCommand() {
    super(
        "applications",
        "shows what Spark's applications hold",
        """
        The applications that hold most come first. When no process of an application has renewed its
        lease in time, its data end by themselves. 'crail fs -rm -r "/spark-<application>.*"' removes
        them at once.
        """,
        bytes(),
        valued("n", "top", "number", "only so many, the ones that hold most"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail applications", "what each application holds"),
        new Example("crail applications --top 10", "the ten that hold most"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    int most = line.hasOption("n") ? number(line, "n", 1, Integer.MAX_VALUE) : Integer.MAX_VALUE;
    try (CommandCluster cluster = new CommandCluster(context)) {
      Configuration configuration = cluster.openConfigured();
      try (CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration))) {
        Applications applications = of(store, configuration);
        return display.show(() -> ApplicationsReport.of(applications.list()).top(most));
      }
    }
  }

  /** The applications in a store. */
  static Applications of(CrailStore store, Configuration configuration) {
    return new Applications(store, configuration.get(ClusterKeys.NAMENODE_ADDRESS));
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.bench;

import io.crail.bench.record.OptionException;
import io.crail.lab.spark.SparkCompare;
import io.crail.tool.command.Command;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.UsageException;
import java.util.List;

/** Runs jobs of Spark with and without Crail. {@code bin/crail} passes where Spark is. */
public final class SparkCommand implements Command {
  private static final String LAUNCHER = "crail.launcher";
  private static final String HOME = "crail.spark.home";

  @Override
  public String name() {
    return "spark";
  }

  @Override
  public String sentence() {
    return "measures jobs of Spark with and without Crail";
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail spark --size 1g --only terasort --plots plots", "one job, and charts"),
        new Example(
            "crail spark --executors 1,2,4 --cores 1,2 --only groupby", "one job in six settings"));
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  public String help() {
    return SparkCompare.help();
  }

  @Override
  public int run(CommandContext context, List<String> arguments) throws Exception {
    List<String> settings = context.ownClusterSettings();
    try {
      return SparkCompare.run(
              arguments.toArray(new String[0]),
              System.getProperty(LAUNCHER),
              settings,
              System.getProperty(HOME),
              context.out(),
              context.err())
          ? 0
          : ExitCode.FAILURE;
    } catch (OptionException e) {
      throw new UsageException(e.getMessage());
    }
  }
}

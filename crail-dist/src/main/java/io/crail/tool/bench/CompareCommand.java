/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.bench;

import io.crail.lab.compare.Compare;
import io.crail.tool.command.Command;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.UsageException;
import java.nio.file.Path;
import java.util.List;

/**
 * Compares the speed of Crail with that of other programs. {@code bin/crail} passes where these
 * programs are.
 */
public final class CompareCommand implements Command {
  private static final String LAUNCHER = "crail.launcher";
  private static final String HDFS = "crail.compare.hdfs";

  @Override
  public String name() {
    return "compare";
  }

  @Override
  public String sentence() {
    return "measures Crail beside Redis, HDFS and the limits of this machine";
  }

  @Override
  public List<Example> examples() {
    return List.of(new Example("crail compare --only keyvalue", "one part only"));
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  public String help() {
    return Compare.help();
  }

  @Override
  public int run(CommandContext context, List<String> arguments) throws Exception {
    List<String> settings = context.ownClusterSettings();
    String hdfs = System.getProperty(HDFS, "");
    try {
      return Compare.run(
              arguments.toArray(new String[0]),
              System.getProperty(LAUNCHER),
              settings,
              hdfs.isEmpty() ? null : Path.of(hdfs),
              context.out(),
              context.err())
          ? 0
          : ExitCode.FAILURE;
    } catch (io.crail.bench.record.OptionException e) {
      throw new UsageException(e.getMessage());
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.bench;

import io.crail.bench.IoBench;
import io.crail.dist.command.Command;
import io.crail.dist.command.CommandCluster;
import io.crail.dist.command.CommandContext;
import java.util.List;

/** Measures a cluster. */
public final class IobenchCommand implements Command {
  @Override
  public String name() {
    return "iobench";
  }

  @Override
  public String sentence() {
    return "measures a cluster, or one in its own process when none is configured";
  }

  @Override
  public String help() {
    return IoBench.help();
  }

  @Override
  public int run(CommandContext context, List<String> arguments) throws Exception {
    try (CommandCluster cluster = new CommandCluster(context)) {
      return IoBench.run(arguments.toArray(new String[0]), cluster.benchContext());
    }
  }
}

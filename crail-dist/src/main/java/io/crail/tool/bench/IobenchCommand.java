/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.bench;

import io.crail.bench.IoBench;
import io.crail.bench.options.LoadType;
import io.crail.tool.command.Command;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionWord;
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
  public List<Example> examples() {
    return List.of(
        new Example("crail iobench -t write -s 1m -k 64 -f /x", "writes 64 MiB"),
        new Example("crail iobench -t getFile -k 100000 -f /x", "looks a file up"));
  }

  @Override
  public List<OptionWord> options() {
    List<String> types = IoBench.types().stream().map(LoadType::label).toList();
    return OptionWord.inHelp(help()).stream()
        .map(each -> each.spellings().contains("--type") ? each.withValues(types) : each)
        .toList();
  }

  @Override
  public int run(CommandContext context, List<String> arguments) throws Exception {
    try (CommandCluster cluster = new CommandCluster(context)) {
      return IoBench.run(arguments.toArray(new String[0]), cluster.benchContext());
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.bench;

import io.crail.bench.hadoop.HadoopBench;
import io.crail.tool.command.Command;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import java.util.List;

/** Measures a cluster, or any other Hadoop file system, through Hadoop's interface. */
public final class HdfsbenchCommand implements Command {
  @Override
  public String name() {
    return "hdfsbench";
  }

  @Override
  public String sentence() {
    return "measures a cluster, HDFS or another file system through Hadoop's interface";
  }

  @Override
  public String help() {
    return HadoopBench.help() + "\n--set also takes keys of Hadoop.\n";
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail hdfsbench -t writeSequentialHeap -s 1m -k 64 -f /h", "writes 64 MiB"));
  }

  @Override
  public int run(CommandContext context, List<String> arguments) throws Exception {
    CommandContext crail = context.withCrailSettings();
    try (CommandCluster cluster = new CommandCluster(crail)) {
      return HadoopBench.run(
          arguments.toArray(new String[0]),
          context.hadoopSettings(),
          crail::configuration,
          cluster.benchContext());
    }
  }
}

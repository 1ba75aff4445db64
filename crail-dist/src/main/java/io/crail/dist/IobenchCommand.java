/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import io.crail.bench.BenchContext;
import io.crail.bench.IoBench;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Measures a cluster. */
final class IobenchCommand implements Command {
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
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(text, false, StandardCharsets.UTF_8);
    BenchContext.ConfigurationSource none =
        () -> {
          throw new AssertionError("help needs no cluster");
        };
    IoBench.run(new String[] {"--help"}, new BenchContext(none, false, out, out, false));
    out.flush();
    return text.toString(StandardCharsets.UTF_8);
  }

  @Override
  public int run(CommandContext context, List<String> arguments) throws Exception {
    try (EmbeddedCluster cluster = new EmbeddedCluster(context)) {
      BenchContext bench =
          new BenchContext(
              cluster::open,
              EmbeddedCluster.isWanted(context),
              context.out(),
              context.err(),
              Boolean.getBoolean("crail.terminal"));
      return IoBench.run(arguments.toArray(new String[0]), bench);
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.bench.report.Json;
import io.crail.common.Printable;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Dump;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.report.ClusterQuery;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Prints the contents of the namenodes. */
public final class DumpCommand extends OptionsCommand {
  /** Declares its options. */
  public DumpCommand() {
    super(
        "dump",
        "prints tree and space of every namenode",
        "",
        "",
        flag("j", "json", "print JSON, for programs: an object a line, with namenode and text"));
  }

  @Override
  public List<Example> examples() {
    return List.of(new Example("crail dump | less", "everything that the namenodes hold"));
  }

  /** A line of a namenode's dump. */
  public record Line(String namenode, String text) {}

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    try (AdminClient cluster = AdminClient.of(context)) {
      return cluster.report(
          context.err(),
          index -> {
            boolean json = line.hasOption("j");
            if (!json) {
              context.out().println("# " + cluster.name(index));
            }
            long cursor = 0;
            do {
              Dump.Response page =
                  cluster.ask(index, NameNodeOperations.DUMP, new Dump.Request(cursor));
              String text = page.text().toString();
              if (json) {
                text.lines()
                    .map(each -> Json.line(new Line(cluster.name(index), each)))
                    .forEach(context.out()::print);
              } else {
                context.out().print(Printable.lines(text));
              }
              ClusterQuery.requireProgress(cursor, 0, 0, page.next(), 0, 0);
              cursor = page.next();
            } while (cursor != -1);
          });
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.common.Printable;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.OptionsCommand;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Dump;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Prints the contents of the namenodes. */
public final class DumpCommand extends OptionsCommand {
  /** Declares its options. */
  public DumpCommand() {
    super("dump", "prints tree and space of every namenode", "", "");
  }

  @Override
  public List<Example> examples() {
    return List.of(new Example("crail dump | less", "everything that the namenodes hold"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    try (AdminClient cluster = AdminClient.of(context)) {
      return cluster.report(
          context.err(),
          index -> {
            context.out().println("# " + cluster.name(index));
            long cursor = 0;
            do {
              Dump.Response page =
                  cluster.ask(index, NameNodeOperations.DUMP, new Dump.Request(cursor));
              context.out().print(Printable.lines(page.text().toString()));
              cursor = page.next();
            } while (cursor != -1);
          });
    }
  }
}

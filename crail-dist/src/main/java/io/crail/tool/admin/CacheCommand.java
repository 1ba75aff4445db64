/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.CrailStore;
import io.crail.cache.CacheContents;
import io.crail.cache.CacheKeys;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.CacheReport;
import io.crail.tool.report.Display;
import io.crail.tool.report.ReportCommand;
import java.util.List;
import java.util.Locale;
import org.apache.commons.cli.CommandLine;

/** Shows what caches of slow file systems hold, and removes what one of them holds. */
public final class CacheCommand extends ReportCommand {
  /** Declares its options. */
  public CacheCommand() {
    super(
        "cache",
        "shows what caches of slow file systems hold, and drops it",
        """
        The sizes are those that the budget of a cache counts. What is dropped is loaded again when
        it is read.
        """,
        bytes(),
        valued("d", "drop", "name", "remove all that is cached of this source"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail cache", "what is cached of each source"),
        new Example("crail cache --drop logs", "forget all of crailcache://logs/"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    String name = line.getOptionValue("d");
    if (name != null && !display.isPlain()) {
      throw new UsageException("--drop deletes, so it takes neither --json nor --watch");
    }
    if (name != null && (name.isEmpty() || name.indexOf('/') >= 0)) {
      throw new UsageException("--drop takes the name of a source, as 'crail cache' shows it");
    }
    try (CommandCluster cluster = new CommandCluster(context)) {
      Configuration configuration = cluster.openConfigured();
      String root = configuration.get(CacheKeys.ROOT);
      try (CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration))) {
        if (name == null) {
          return display.show(() -> new CacheReport(CacheContents.list(store, root)));
        }
        if (!CacheContents.drop(store, root, name)) {
          context
              .err()
              .printf(Locale.ROOT, "crail cache: nothing is cached of a source '%s'%n", name);
          return ExitCode.FAILURE;
        }
        return 0;
      }
    }
  }
}

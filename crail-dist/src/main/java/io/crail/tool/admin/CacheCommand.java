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
import io.crail.tool.shell.CacheLoading;
import java.util.List;
import java.util.Locale;
import org.apache.commons.cli.CommandLine;

/**
 * Shows what caches of slow file systems hold, loads files into one, and removes what one holds.
 */
public final class CacheCommand extends ReportCommand {
  private static final String USUAL_THREADS = "8";
  private static final int MOST_THREADS = 1_000;

  /** Declares its options. */
  public CacheCommand() {
    super(
        "cache",
        "shows what caches of slow file systems hold, fills them and empties them",
        """
        The sizes are those that the budget of a cache counts. What is dropped is loaded again when
        it is read. With --load, --set also takes keys of Hadoop, and Hadoop's own files are found by
        HADOOP_CONF_DIR, its other jars by HADOOP_CLASSPATH. A file that cannot be loaded is named, and
        the others are loaded all the same.
        """,
        bytes(),
        valued("l", "load", "path", "load all files below this path of a cache"),
        valued(
            "t", "threads", "count", "pieces of files to load at a time (" + USUAL_THREADS + ")"),
        valued("d", "drop", "name", "remove all that is cached of this source"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail cache", "what is cached of each source"),
        new Example("crail cache --load crailcache://logs/2026", "read it before others do"),
        new Example("crail cache --drop logs", "forget all of crailcache://logs/"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    String name = line.getOptionValue("d");
    String path = line.getOptionValue("l");
    if ((name != null || path != null) && !display.isPlain()) {
      throw new UsageException("--load and --drop take neither --json nor --watch");
    }
    if (name != null && path != null) {
      throw new UsageException("--load and --drop are two commands");
    }
    if (name != null && (name.isEmpty() || name.indexOf('/') >= 0)) {
      throw new UsageException("--drop takes the name of a source, as 'crail cache' shows it");
    }
    if (path == null && line.hasOption("t")) {
      throw new UsageException("--threads is for --load");
    }
    return path == null ? contents(context, name, display) : load(context, path, line);
  }

  private static int load(CommandContext context, String path, CommandLine line) throws Exception {
    int threads =
        line.hasOption("t") ? number(line, "t", 1, MOST_THREADS) : Integer.parseInt(USUAL_THREADS);
    try (CommandCluster cluster = new CommandCluster(context.withCrailSettings())) {
      return CacheLoading.run(cluster.openConfigured(), context, path, threads);
    }
  }

  private static int contents(CommandContext context, String name, Display display)
      throws Exception {
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

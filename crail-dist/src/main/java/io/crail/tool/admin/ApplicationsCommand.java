/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.CrailStore;
import io.crail.common.ByteText;
import io.crail.common.config.Configuration;
import io.crail.common.error.MissingNamenode;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.ClusterKeys;
import io.crail.spark.application.Applications;
import io.crail.spark.application.Applications.Application;
import io.crail.spark.application.Applications.Cleaned;
import io.crail.spark.application.Applications.Held;
import io.crail.spark.application.Applications.Report;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.ApplicationsReport;
import io.crail.tool.report.Display;
import io.crail.tool.report.PartialReport;
import io.crail.tool.report.ReportCommand;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.commons.cli.CommandLine;

/** Shows what Spark's applications hold, and ends those whose processes are gone. */
public final class ApplicationsCommand extends ReportCommand {
  /** Declares its options. */
  public ApplicationsCommand() {
    super(
        "applications",
        "shows what Spark's applications hold, and ends dead ones",
        """
        The applications that hold most come first. An application is expired when none of its
        processes has renewed its lease in time, by the clocks of both hosts. Before --clean deletes,
        it watches for as long as the lease whether a process renews it. It suits cron.
        """,
        bytes(),
        valued("i", "id", "id", "only this application"),
        valued("n", "top", "number", "only so many, the ones that hold most"),
        flag("c", "clean", "delete what expired applications hold"),
        flag("f", "force", "with -c and -i: at once, also when it lives"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail applications", "what each application holds"),
        new Example("crail applications --top 10", "the ten that hold most"),
        new Example("crail applications --clean", "delete what dead ones have left"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    String id = line.getOptionValue("i");
    boolean clean = line.hasOption("c");
    int most = line.hasOption("n") ? number(line, "n", 1, Integer.MAX_VALUE) : Integer.MAX_VALUE;
    if (line.hasOption("n") && (clean || id != null)) {
      throw new UsageException("--top goes with neither --clean nor --id");
    }
    boolean force = line.hasOption("f");
    if (force && !(clean && id != null)) {
      throw new UsageException("--force needs --clean and --id");
    }
    if (clean && !display.isPlain()) {
      throw new UsageException("--clean deletes, so it takes neither --json nor --watch");
    }
    try (CommandCluster cluster = new CommandCluster(context)) {
      Configuration configuration = cluster.openConfigured();
      try (CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration))) {
        Applications applications = of(store, configuration);
        if (id == null && !clean) {
          return display.show(() -> ApplicationsReport.of(applications.list()).top(most));
        }
        Report first = applications.list();
        Absence absence = new Absence(context.err());
        if (id != null && only(first, id).applications().isEmpty()) {
          absence.report(first.missing());
          context
              .err()
              .printf(
                  Locale.ROOT,
                  "crail applications: there is no application '%s'%s%n",
                  id,
                  absence.where());
          return absence.code(ExitCode.FAILURE);
        }
        if (!clean) {
          return display.show(() -> ApplicationsReport.of(only(applications.list(), id)));
        }
        absence.report(first.missing());
        List<Application> found = only(first, id).applications();
        if (force) {
          absence.report(applications.end(found.get(0)));
          printEnded(context.out(), found, absence);
        } else {
          clean(context.out(), applications, found, absence);
        }
        return absence.code(0);
      }
    }
  }

  /** The applications in a store. */
  static Applications of(CrailStore store, Configuration configuration) {
    return new Applications(store, configuration.get(ClusterKeys.NAMENODE_ADDRESS));
  }

  /** The part of one application; everything if there is no id. */
  private static Report only(Report report, String id) {
    return new Report(
        report.applications().stream().filter(each -> id == null || each.id().equals(id)).toList(),
        report.missing());
  }

  /** Names each namenode that does not answer once. */
  private static final class Absence {
    private final PrintStream err;
    private final Set<Integer> reported = new HashSet<>();

    Absence(PrintStream err) {
      this.err = err;
    }

    void report(List<MissingNamenode> missing) {
      missing.stream()
          .filter(each -> reported.add(each.index()))
          .forEach(each -> err.println(PartialReport.without(each)));
    }

    /** The exit code, if all other things end with {@code code}. */
    int code(int code) {
      return reported.isEmpty() ? code : ExitCode.PARTIAL;
    }

    /** What a sentence is true of. */
    String where() {
      return reported.isEmpty() ? "" : " where a namenode answers";
    }
  }

  private static void clean(
      PrintStream out, Applications applications, List<Application> found, Absence absence)
      throws Exception {
    Instant now = Instant.now();
    List<Application> expired = found.stream().filter(each -> each.expired(now)).toList();
    if (expired.isEmpty()) {
      out.println("no application is expired" + absence.where());
      return;
    }
    Duration longest =
        expired.stream().map(Application::lease).max(Duration::compareTo).orElseThrow();
    out.printf(
        Locale.ROOT,
        "watching %d for up to %d s%n",
        expired.size(),
        longest.toSeconds() * 5 / 4 + 1);
    Cleaned cleaned = applications.endUnlessRenewed(expired);
    absence.report(cleaned.missing());
    printEnded(out, cleaned.ended(), absence);
    cleaned.renewed().forEach(each -> out.println(each.id() + " lives: its lease was renewed"));
  }

  private static void printEnded(PrintStream out, List<Application> ended, Absence absence) {
    for (Application each : ended) {
      Held held = each.shuffle().plus(each.broadcast());
      out.printf(
          Locale.ROOT,
          "%s is ended%s; it held %d files, %s%n",
          each.id(),
          absence.where(),
          held.files(),
          ByteText.of(held.bytes()));
    }
  }
}

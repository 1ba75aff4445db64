/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.common.error.MissingNamenode;
import io.crail.conf.CrailConfiguration;
import io.crail.dist.command.ByteText;
import io.crail.dist.command.CommandCluster;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.ExitCode;
import io.crail.dist.command.OptionsCommand;
import io.crail.dist.command.UsageException;
import io.crail.protocol.ClusterKeys;
import io.crail.spark.application.Applications;
import io.crail.spark.application.Applications.Application;
import io.crail.spark.application.Applications.Cleaned;
import io.crail.spark.application.Applications.Held;
import io.crail.spark.application.Applications.Report;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import org.apache.commons.cli.CommandLine;

/** Shows what Spark's applications hold, and ends those whose processes are gone. */
public final class ApplicationsCommand extends OptionsCommand {
  /** Declares its options. */
  public ApplicationsCommand() {
    super(
        "applications",
        "shows what Spark's applications hold, and ends dead ones",
        "",
        """
        An application is expired when none of its processes has renewed its lease in time, by the
        clocks of both hosts. Before --clean deletes, it watches for as long as the lease whether
        somebody does. It suits cron.
        """,
        flag("b", "bytes", "print plain numbers of bytes"),
        valued("i", "id", "id", "only this application"),
        flag("c", "clean", "delete what expired applications hold"),
        flag("f", "force", "with -c and -i: at once, also when it lives"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail applications", "what each application holds"),
        new Example("crail applications --clean", "delete what dead ones have left"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    String id = line.getOptionValue("i");
    boolean clean = line.hasOption("c");
    boolean force = line.hasOption("f");
    if (force && !(clean && id != null)) {
      throw new UsageException("--force needs --clean and --id");
    }
    try (CommandCluster cluster = new CommandCluster(context)) {
      Configuration configuration = cluster.openConfigured();
      try (CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration))) {
        Applications applications =
            new Applications(store, configuration.get(ClusterKeys.NAMENODE_ADDRESS));
        Report report = applications.list();
        Absence absence = new Absence(context.err());
        absence.tell(report.missing());
        List<Application> found =
            report.applications().stream()
                .filter(each -> id == null || each.id().equals(id))
                .toList();
        if (id != null && found.isEmpty()) {
          context
              .err()
              .printf("crail applications: there is no application '%s'%s%n", id, absence.where());
          return absence.told.isEmpty() ? ExitCode.FAILURE : ExitCode.PARTIAL;
        }
        if (force) {
          absence.tell(applications.end(found.get(0)));
          printEnded(context.out(), found, absence);
        } else if (clean) {
          clean(context.out(), applications, found, absence);
        } else {
          print(context.out(), found, line.hasOption("b") ? String::valueOf : ByteText::of);
        }
        return absence.told.isEmpty() ? 0 : ExitCode.PARTIAL;
      }
    }
  }

  /** Names each namenode that does not answer once. */
  private static final class Absence {
    private final PrintStream err;
    private final Set<Integer> told = new HashSet<>();

    Absence(PrintStream err) {
      this.err = err;
    }

    void tell(List<MissingNamenode> missing) {
      missing.stream()
          .filter(each -> told.add(each.index()))
          .forEach(each -> err.println("crail: without the part of " + each));
    }

    /** What a sentence is true of. */
    String where() {
      return told.isEmpty() ? "" : " where a namenode answers";
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
    out.printf("watching %d for up to %d s%n", expired.size(), longest.toSeconds() * 5 / 4 + 1);
    Cleaned cleaned = applications.endUnlessRenewed(expired);
    absence.tell(cleaned.missing());
    printEnded(out, cleaned.ended(), absence);
    cleaned.renewed().forEach(each -> out.println(each.id() + " lives: its lease was renewed"));
  }

  private static void printEnded(PrintStream out, List<Application> ended, Absence absence) {
    for (Application each : ended) {
      Held held = each.shuffle().plus(each.broadcast());
      out.printf(
          "%s is ended%s; it held %d files, %s%n",
          each.id(), absence.where(), held.files(), ByteText.of(held.bytes()));
    }
  }

  private static void print(PrintStream out, List<Application> found, LongFunction<String> text) {
    int width = found.stream().mapToInt(each -> each.id().length()).max().orElse(0);
    String row = "%-" + Math.max(width, "application".length()) + "s %-20s %8s %12s %12s  %s%n";
    out.printf(row, "application", "since", "files", "shuffle", "broadcast", "state");
    Instant now = Instant.now();
    for (Application each : found) {
      out.printf(
          row,
          each.id(),
          each.began().map(Instant::toString).orElse("-"),
          each.shuffle().files() + each.broadcast().files(),
          text.apply(each.shuffle().bytes()),
          text.apply(each.broadcast().bytes()),
          state(each, now));
    }
  }

  private static String state(Application application, Instant now) {
    return application.expired(now)
        ? "expired since "
            + application.renewed().plus(application.lease()).truncatedTo(ChronoUnit.SECONDS)
        : "alive";
  }
}

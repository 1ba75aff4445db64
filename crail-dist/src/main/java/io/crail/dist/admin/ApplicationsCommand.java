/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.dist.command.ByteText;
import io.crail.dist.command.CommandCluster;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.ExitCode;
import io.crail.dist.command.OptionsCommand;
import io.crail.dist.command.UsageException;
import io.crail.spark.application.Applications;
import io.crail.spark.application.Applications.Application;
import io.crail.spark.application.Applications.Held;
import io.crail.spark.application.Applications.Report;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
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
  protected int run(CommandContext context, CommandLine line) throws Exception {
    String id = line.getOptionValue("i");
    boolean clean = line.hasOption("c");
    boolean force = line.hasOption("f");
    if (force && !(clean && id != null)) {
      throw new UsageException("--force needs --clean and --id");
    }
    try (CommandCluster cluster = new CommandCluster(context);
        CrailStore store =
            CrailStore.newInstance(CrailConfiguration.of(cluster.openConfigured()))) {
      Applications applications = new Applications(store);
      Report report = applications.list();
      report.missing().forEach(each -> context.err().println("crail: without the part of " + each));
      List<Application> found =
          report.applications().stream()
              .filter(each -> id == null || each.id().equals(id))
              .toList();
      if (id != null && found.isEmpty()) {
        context.err().println("crail applications: there is no application '" + id + "'");
        return ExitCode.FAILURE;
      }
      if (clean) {
        clean(context, applications, found, force);
      } else {
        print(context.out(), found, line.hasOption("b") ? String::valueOf : ByteText::of);
      }
      return report.missing().isEmpty() ? 0 : ExitCode.PARTIAL;
    }
  }

  private static void clean(
      CommandContext context, Applications applications, List<Application> found, boolean force)
      throws Exception {
    if (force) {
      applications.end(found.get(0));
      printEnded(context.out(), found);
      return;
    }
    Instant now = Instant.now();
    List<Application> expired = found.stream().filter(each -> each.expired(now)).toList();
    if (expired.isEmpty()) {
      context.out().println("no application is expired");
      return;
    }
    Duration longest =
        expired.stream().map(Application::lease).max(Duration::compareTo).orElseThrow();
    context
        .out()
        .printf("watching %d for up to %d s%n", expired.size(), longest.toSeconds() * 5 / 4 + 1);
    List<Application> ended = applications.endUnlessRenewed(expired);
    printEnded(context.out(), ended);
    expired.stream()
        .filter(each -> !ended.contains(each))
        .forEach(each -> context.out().println(each.id() + " lives: its lease was renewed"));
  }

  private static void printEnded(PrintStream out, List<Application> ended) {
    for (Application each : ended) {
      Held held = each.shuffle().plus(each.broadcast());
      out.printf(
          "%s is ended; it held %d files, %s%n",
          each.id(), held.files(), ByteText.of(held.bytes()));
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

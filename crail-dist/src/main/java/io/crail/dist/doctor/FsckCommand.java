/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.Printable;
import io.crail.common.error.MissingNamenode;
import io.crail.dist.admin.AdminClient;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.UsageException;
import io.crail.dist.doctor.FsckReport.Damage;
import io.crail.dist.report.Display;
import io.crail.dist.report.ReportCommand;
import io.crail.dist.report.ReportText;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.Usage;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.commons.cli.CommandLine;

/** Finds the files whose bytes are lost, and checks the accounts of space. */
public final class FsckCommand extends ReportCommand {
  /** The most files in a report that is kept whole; as text, files are printed when found. */
  private static final int MOST_FILES = 10_000;

  /** Declares its options. */
  public FsckCommand() {
    super(
        "fsck",
        "names the files that have lost bytes, and checks the accounts of space",
        """
        A file is lost when a datanode is gone that had some of its bytes: reading them fails, and
        deleting the file frees what is left. It is silent when its datanode says nothing and may
        come back. Nothing is changed. Exit code 0 means that all is well.
        """,
        flag("p", "paths", "print only the paths of lost files, one in each line"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail fsck", "lost and silent files, and the accounts of space"),
        new Example("crail fsck --paths", "only the paths of lost files, such as for 'crail rm'"));
  }

  /** What was found at one namenode after the other. Memory does not grow with the files. */
  private static final class Tally {
    private final AdminClient cluster;
    private final Consumer<Damage> found;
    private long objects;
    private final long[] files = new long[3];
    private final long[] bytes = new long[3];
    private int compared;
    private final List<String> wrongAccounts = new ArrayList<>();

    // A large file may have several findings, one after the other.
    private Examine.Finding last;
    private long lastBytes;

    Tally(AdminClient cluster, Consumer<Damage> found) {
      this.cluster = cluster;
      this.found = found;
    }

    void examine(int index) throws IOException, InterruptedException {
      Usage.Response before = cluster.ask(index, NameNodeOperations.USAGE, new Usage.Request());
      long allocated = 0;
      Examine.Request request = new Examine.Request(0, 0, 0);
      try {
        while (request.cursor() != -1) {
          Examine.Response page = cluster.ask(index, NameNodeOperations.EXAMINE, request);
          objects += page.nodes();
          allocated += page.allocatedBytes();
          page.findings().forEach(this::add);
          request = new Examine.Request(page.next(), page.id(), page.extent());
        }
      } finally {
        tell();
      }
      Usage.Response after = cluster.ask(index, NameNodeOperations.USAGE, new Usage.Request());
      if (!before.equals(after)) {
        return;
      }
      compared++;
      long counted = counted(after);
      if (counted != allocated) {
        wrongAccounts.add(
            "%s counts %d bytes as used or lost, but its files have %d"
                .formatted(cluster.name(index), counted, allocated));
      }
    }

    private static long counted(Usage.Response usage) {
      return usage.classes().stream().mapToLong(each -> each.usedBytes() + each.lostBytes()).sum();
    }

    private void add(Examine.Finding finding) {
      if (last != null && last.id() == finding.id()) {
        lastBytes += finding.bytes();
        last = last.kind() <= finding.kind() ? last : finding;
        return;
      }
      tell();
      last = finding;
      lastBytes = finding.bytes();
    }

    private void tell() {
      if (last == null) {
        return;
      }
      files[last.kind()]++;
      bytes[last.kind()] += lastBytes;
      found.accept(
          new Damage(
              last.kind() == Examine.LOST ? "lost" : "silent",
              last.path().toString(),
              lastBytes,
              last.size(),
              last.datanode()));
      last = null;
    }

    FsckReport report(List<Damage> shown, long omitted, List<MissingNamenode> missing) {
      return new FsckReport(
          objects,
          files[Examine.LOST],
          bytes[Examine.LOST],
          files[Examine.SILENT],
          bytes[Examine.SILENT],
          shown,
          omitted,
          cluster.count(),
          compared,
          wrongAccounts,
          missing.stream().map(MissingNamenode::toString).toList());
    }
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    boolean pathsOnly = line.hasOption("p");
    if (pathsOnly && !display.isPlain()) {
      throw new UsageException("--paths goes with neither --json nor --watch");
    }
    try (AdminClient cluster = AdminClient.of(context)) {
      if (!display.isPlain()) {
        return display.show(() -> collect(cluster));
      }
      ReportText text = display.text();
      FsckReport report =
          examine(
              cluster,
              pathsOnly
                  ? each -> printPath(each, context.out(), context.err())
                  : each -> each.print(text));
      report.warnings().forEach(context.err()::println);
      if (!pathsOnly) {
        report.printSummary(text);
      }
      return report.exitCode();
    }
  }

  /** Hands on each file when it is found; the report has none. */
  private static FsckReport examine(AdminClient cluster, Consumer<Damage> found)
      throws IOException, InterruptedException {
    Tally tally = new Tally(cluster, found);
    return tally.report(List.of(), 0, cluster.each(tally::examine));
  }

  private static FsckReport collect(AdminClient cluster) throws IOException, InterruptedException {
    List<Damage> files = new ArrayList<>();
    long[] omitted = new long[1];
    Tally tally =
        new Tally(
            cluster,
            each -> {
              if (files.size() < MOST_FILES) {
                files.add(each);
              } else {
                omitted[0]++;
              }
            });
    List<MissingNamenode> missing = cluster.each(tally::examine);
    return tally.report(files, omitted[0], missing);
  }

  private static void printPath(Damage damage, PrintStream out, PrintStream err) {
    if (damage.isLost() && Printable.isPrintable(damage.path())) {
      out.println(damage.path());
    } else if (damage.isLost()) {
      err.println(
          "crail fsck: left out, as its name has control characters: "
              + Printable.line(damage.path()));
    }
  }
}

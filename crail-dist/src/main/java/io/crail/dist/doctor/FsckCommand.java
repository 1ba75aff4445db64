/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.Printable;
import io.crail.common.error.MissingNamenode;
import io.crail.dist.admin.AdminClient;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.ExitCode;
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
import java.util.function.ObjIntConsumer;
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
        come back. Exit code 0 means that all is well, or is well after a repair.
        Without --repair nothing is changed. With it lost files are removed, after a question on the
        terminal or with --yes. A file that has changed meanwhile is left alone, and so are silent
        ones.
        """,
        flag("p", "paths", "print only the paths of lost files, one in each line"),
        flag("r", "repair", "say what a repair would remove, then ask and do it"),
        flag("y", "yes", "with --repair: do it without a question"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail fsck", "lost and silent files, and the accounts of space"),
        new Example("crail fsck --paths", "only the paths of lost files, for scripts"),
        new Example("crail fsck --repair", "also remove lost files, after a question"));
  }

  /** What was found at one namenode after the other. Memory does not grow with the files. */
  private static final class Tally {
    private final AdminClient cluster;
    private final Consumer<Damage> found;
    private final ObjIntConsumer<Examine.Finding> lostFiles;
    private int namenode;
    private long objects;
    private final long[] files = new long[3];
    private final long[] bytes = new long[3];
    private int compared;
    private final List<String> wrongAccounts = new ArrayList<>();

    // A large file may have several findings, one after the other.
    private Examine.Finding last;
    private long lastBytes;

    /** Creates one that also hands on each lost file with the index of its namenode. */
    Tally(AdminClient cluster, Consumer<Damage> found, ObjIntConsumer<Examine.Finding> lostFiles) {
      this.cluster = cluster;
      this.found = found;
      this.lostFiles = lostFiles;
    }

    void examine(int index) throws IOException, InterruptedException {
      namenode = index;
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
      // Other figures change with every request, and say nothing of space.
      if (before.nodes() != after.nodes() || !before.classes().equals(after.classes())) {
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
      if (last.kind() == Examine.LOST) {
        lostFiles.accept(last, namenode);
      }
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
    boolean repairs = line.hasOption("r");
    if (pathsOnly && repairs) {
      throw new UsageException("either --paths or --repair");
    }
    if (line.hasOption("y") && !repairs) {
      throw new UsageException("--yes goes with --repair");
    }
    if ((pathsOnly || repairs) && !display.isPlain()) {
      String option = pathsOnly ? "--paths" : "--repair";
      throw new UsageException(option + " goes with neither --json nor --watch");
    }
    try (AdminClient cluster = AdminClient.of(context)) {
      if (!display.isPlain()) {
        return display.show(() -> collect(cluster));
      }
      ReportText text = display.text();
      FsckRepair repair = new FsckRepair(cluster, context.out());
      Tally tally =
          new Tally(
              cluster,
              pathsOnly
                  ? each -> printPath(each, context.out(), context.err())
                  : each -> each.print(text),
              repairs ? repair::add : (file, namenode) -> {});
      FsckReport report = tally.report(List.of(), 0, cluster.each(tally::examine));
      report.warnings().forEach(context.err()::println);
      if (!pathsOnly) {
        report.printSummary(text);
      }
      boolean repaired = repair.isNeeded() && repair(context, repair, line.hasOption("y"));
      if (repair.missesNamenode()) {
        return ExitCode.PARTIAL;
      }
      return report.exitCode(repaired);
    }
  }

  private static boolean repair(CommandContext context, FsckRepair repair, boolean agreed)
      throws IOException, InterruptedException {
    repair.print();
    if (agreed || context.confirms("Remove them?")) {
      return repair.carryOut();
    }
    context.out().println("nothing was changed; --repair --yes removes them");
    return false;
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
            },
            (file, namenode) -> {});
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

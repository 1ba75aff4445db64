/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.cluster.Examine;
import io.crail.tool.admin.AdminClient;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import io.crail.tool.doctor.FsckReport.Damage;
import io.crail.tool.report.Display;
import io.crail.tool.report.ProgressLines;
import io.crail.tool.report.ReportCommand;
import io.crail.tool.report.ReportText;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.Option;

/**
 * Finds the files whose bytes are lost, and checks the accounts of space, its owners, leases and
 * the shares of spread directories.
 */
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
        come back. Space must have one owner, write leases must end in time, and the shares of spread
        directories must be as their owners say. Exit code 0 means that all is well, or is well
        after a repair.
        All this is what the namenodes say. With --data a byte of each extent is read as well, so
        that datanodes report what they have: a file is stale when they lack some of its bytes, and
        unread when this host cannot read them. In a large store, --data 1% reads from each file
        with that chance.
        Without --repair nothing is changed. With it lost files are removed, after a question on the
        terminal or with --yes. A file that has changed meanwhile is left alone, and so are silent,
        stale and unread ones.
        """,
        Option.builder("d")
            .longOpt("data")
            .hasArg()
            .optionalArg(true)
            .argName("percent")
            .desc("also read a byte of each extent, of all files or of some, such as 5%")
            .get(),
        Option.builder("p")
            .longOpt("paths")
            .hasArg()
            .optionalArg(true)
            .argName("state")
            .desc("print only the paths of files in a state, one in each line: lost, or stale")
            .get(),
        flag("r", "repair", "say what a repair would remove, then ask and do it"),
        flag("y", "yes", "with --repair: do it without a question"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail fsck", "lost and silent files, and the accounts of space"),
        new Example("crail fsck --data", "the same, and whether the datanodes have the bytes"),
        new Example("crail fsck --data 1%", "the same for one file of a hundred"),
        new Example("crail fsck --paths", "only the paths of lost files, for scripts"),
        new Example("crail fsck --repair", "also remove lost files, after a question"));
  }

  /** What was found at one namenode after the other. Memory does not grow with the files. */
  private static final class Tally {
    private final AdminClient cluster;
    private final DatanodeNames datanodes;
    private final Consumer<Damage> found;
    private final ObjIntConsumer<Examine.Finding> lostFiles;
    private int namenode;
    private long objects;
    private final long[] files = new long[3];
    private final long[] bytes = new long[3];
    private int compared;
    private final List<String> wrongAccounts = new ArrayList<>();
    private final List<String> doubleOwners = new ArrayList<>();
    private final Set<Integer> ownersChecked = new HashSet<>();
    private long omittedOwners;
    private final SpaceClaims claims;
    private final SpreadShares shares;
    private final FsckLeases.Tally leases = new FsckLeases.Tally();

    /** Creates one that also hands on each lost file with the index of its namenode. */
    Tally(
        AdminClient cluster,
        DatanodeNames datanodes,
        Consumer<Damage> found,
        ObjIntConsumer<Examine.Finding> lostFiles) {
      this.cluster = cluster;
      this.datanodes = datanodes;
      this.claims = new SpaceClaims(cluster);
      this.shares = new SpreadShares(cluster);
      this.found = found;
      this.lostFiles = lostFiles;
    }

    void examine(int index) throws IOException, InterruptedException {
      namenode = index;
      datanodes.add(claims.ask(index));
      shares.ask(index);
      // The root is none of a user's nodes.
      objects--;
      findFiles(index);
      ExtentOwners.Found owners = ExtentOwners.check(cluster, datanodes, index);
      doubleOwners.addAll(owners.lines());
      omittedOwners += owners.omitted();
      if (owners.whole()) {
        ownersChecked.add(index);
      }
    }

    private void findFiles(int index) throws IOException, InterruptedException {
      FileFindings findings = new FileFindings(this::report);
      Examination.Accounts accounts;
      try {
        accounts = Examination.run(cluster, index, page -> add(page, findings));
      } finally {
        findings.end();
      }
      if (!accounts.compared()) {
        return;
      }
      compared++;
      if (accounts.difference() != 0) {
        wrongAccounts.add(
            String.format(
                Locale.ROOT,
                "%s counts %d bytes as used or lost, but its files have %d",
                cluster.name(index),
                accounts.counted(),
                accounts.allocated()));
      }
    }

    private void add(Examine.Response page, FileFindings findings)
        throws CrailException, InterruptedException {
      objects += page.nodes();
      for (Examine.Finding finding : page.findings()) {
        if (finding.kind() != Examine.LOST && finding.kind() != Examine.SILENT) {
          throw ErrorCode.PROTOCOL.exception(finding.toString());
        }
        findings.add(finding);
      }
      page.leases().forEach(leases::add);
    }

    private void report(Examine.Finding file, long damaged) {
      boolean lost = file.kind() == Examine.LOST;
      files[file.kind()]++;
      bytes[file.kind()] += damaged;
      if (lost) {
        lostFiles.accept(file, namenode);
      }
      found.accept(
          new Damage(
              lost ? Damage.LOST : Damage.SILENT,
              file.path().toString(),
              damaged,
              file.size(),
              file.datanode(),
              datanodes.of(file.datanode()),
              lost ? "is gone" : "is silent"));
    }

    FsckReport report(Shown shown, Optional<FsckReport.Data> data, List<MissingNamenode> missing)
        throws IOException, InterruptedException {
      List<MissingNamenode> without = new ArrayList<>(missing);
      List<MissingNamenode> since = new ArrayList<>();
      doubleOwners.addAll(claims.check(since));
      List<String> wrongShares = shares.check(since);
      for (MissingNamenode each : since) {
        ownersChecked.remove(each.index());
        if (missing.stream().noneMatch(known -> known.index() == each.index())) {
          without.add(each);
        }
      }
      return new FsckReport(
          objects,
          files[Examine.LOST],
          bytes[Examine.LOST],
          files[Examine.SILENT],
          bytes[Examine.SILENT],
          shown.files,
          shown.omitted,
          cluster.count(),
          compared,
          wrongAccounts,
          ownersChecked.size(),
          doubleOwners,
          omittedOwners,
          wrongShares,
          leases.report(),
          data,
          without.stream().map(MissingNamenode::toString).toList());
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
    String listed = line.getOptionValue("p", Damage.LOST);
    if (!listed.equals(Damage.LOST) && !listed.equals(Damage.STALE)) {
      throw new UsageException("option --paths has the bad value '" + listed + "': lost or stale");
    }
    double share = share(line);
    if (listed.equals(Damage.STALE) && share == 0) {
      throw new UsageException("--paths stale goes with --data");
    }
    try (AdminClient cluster = AdminClient.of(context)) {
      if (!display.isPlain()) {
        // On a page that is shown again and again progress would only disturb.
        PrintStream progress = line.hasOption("w") ? null : context.err();
        return display.show(() -> collect(cluster, share, progress));
      }
      ReportText text = display.text();
      FsckRepair repair = new FsckRepair(cluster, context.out());
      FsckReport report =
          examine(
              cluster,
              share,
              pathsOnly
                  ? each -> printPath(each, listed, context.out(), context.err())
                  : each -> each.print(text),
              repairs ? repair::add : (file, namenode) -> {},
              new Shown(),
              context.err());
      report.warnings().forEach(each -> context.err().println(Printable.line(each)));
      if (!pathsOnly) {
        report.printSummary(text);
      }
      boolean repaired = repair.isNeeded() && repair(context, repair, line.hasOption("y"));
      return report.exitCode(repaired);
    }
  }

  /** The part of the files that is read from; 0 for none. */
  private static double share(CommandLine line) throws UsageException {
    if (!line.hasOption("d")) {
      return 0;
    }
    String text = line.getOptionValue("d", "100%");
    double percent = 0;
    try {
      percent =
          Double.parseDouble(text.endsWith("%") ? text.substring(0, text.length() - 1) : text);
    } catch (NumberFormatException e) {
      // The message below says the same of zero.
    }
    if (!(percent > 0 && percent <= 100)) {
      throw new UsageException(
          "option --data has the bad value '" + text + "': must be above 0% and at most 100%");
    }
    return percent / 100;
  }

  /**
   * Examines a cluster.
   *
   * @param share the part of the files that is read from
   * @param found takes each damaged file
   * @param lostFiles takes each lost file with the index of its namenode
   * @param shown the files of the report
   * @param progress takes lines about long reads; null for none
   */
  private static FsckReport examine(
      AdminClient cluster,
      double share,
      Consumer<Damage> found,
      ObjIntConsumer<Examine.Finding> lostFiles,
      Shown shown,
      PrintStream progress)
      throws Exception {
    DatanodeNames datanodes = new DatanodeNames();
    Tally tally = new Tally(cluster, datanodes, found, lostFiles);
    if (share == 0) {
      return tally.report(shown, Optional.empty(), cluster.each(tally::examine));
    }
    try (DataCheck data = new DataCheck(cluster, share, datanodes, found)) {
      if (progress != null) {
        data.whileReading(new ProgressLines(progress, data::progress));
      }
      List<MissingNamenode> missing =
          cluster.each(
              index -> {
                tally.examine(index);
                data.check(index);
              });
      return tally.report(shown, Optional.of(data.report()), missing);
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

  /** The damaged files of a report that is kept whole. */
  private static final class Shown {
    private final List<Damage> files = new ArrayList<>();
    private long omitted;

    void add(Damage damage) {
      if (files.size() < MOST_FILES) {
        files.add(damage);
      } else {
        omitted++;
      }
    }
  }

  private static FsckReport collect(AdminClient cluster, double share, PrintStream progress)
      throws Exception {
    Shown shown = new Shown();
    return examine(cluster, share, shown::add, (file, namenode) -> {}, shown, progress);
  }

  private static void printPath(Damage damage, String state, PrintStream out, PrintStream err) {
    if (!damage.state().equals(state)) {
      return;
    }
    if (Printable.isPrintable(damage.path())) {
      out.println(damage.path());
    } else {
      err.println(
          "crail fsck: left out, as its name has control characters: "
              + Printable.line(damage.path()));
    }
  }
}

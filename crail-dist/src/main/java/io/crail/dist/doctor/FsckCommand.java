/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.Printable;
import io.crail.dist.admin.AdminClient;
import io.crail.dist.command.ByteText;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.ExitCode;
import io.crail.dist.command.OptionsCommand;
import io.crail.dist.command.UsageException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.ClassUsage;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.apache.commons.cli.CommandLine;

/** Finds the files whose bytes are lost, and checks the accounts of space. */
public final class FsckCommand extends OptionsCommand {
  /** Declares its options. */
  public FsckCommand() {
    super(
        "fsck",
        "names the files that have lost bytes, and checks the accounts of space",
        "",
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
    private final PrintStream out;
    private final PrintStream err;
    private final boolean pathsOnly;
    private final ObjIntConsumer<Examine.Finding> lostFiles;
    private int namenode;
    private long nodes;
    private final long[] files = new long[3];
    private final long[] bytes = new long[3];
    private int compared;
    private int wrongAccounts;

    // A large file may have several findings, one after the other.
    private Examine.Finding last;
    private long lastBytes;

    /** Creates one that hands on each lost file with the index of its namenode. */
    Tally(
        AdminClient cluster,
        CommandContext context,
        boolean pathsOnly,
        ObjIntConsumer<Examine.Finding> lostFiles) {
      this.cluster = cluster;
      this.lostFiles = lostFiles;
      this.out = context.out();
      this.err = context.err();
      this.pathsOnly = pathsOnly;
    }

    void examine(int index) throws IOException, InterruptedException {
      Usage.Response before = cluster.ask(index, NameNodeOperations.USAGE, new Usage.Request());
      namenode = index;
      long allocated = 0;
      Examine.Request request = new Examine.Request(0, 0, 0);
      try {
        while (request.cursor() != -1) {
          Examine.Response page = cluster.ask(index, NameNodeOperations.EXAMINE, request);
          nodes += page.nodes();
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
      if (used(after) != allocated) {
        wrongAccounts++;
        if (!pathsOnly) {
          out.printf(
              "accounts %s counts %d bytes as used, but its files have %d%n",
              cluster.name(index), used(after), allocated);
        }
      }
    }

    private static long used(Usage.Response usage) {
      return usage.classes().stream().mapToLong(ClassUsage::usedBytes).sum();
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
      boolean lost = last.kind() == Examine.LOST;
      files[last.kind()]++;
      bytes[last.kind()] += lastBytes;
      if (lost) {
        lostFiles.accept(last, namenode);
      }
      String path = Printable.line(last.path().toString());
      if (!pathsOnly) {
        out.printf(
            "%-8s %s: %s of %s, datanode %d %s%n",
            lost ? "lost" : "silent",
            path,
            ByteText.of(lastBytes),
            ByteText.of(last.size()),
            last.datanode(),
            lost ? "is gone" : "is silent");
      } else if (lost && path.equals(last.path().toString())) {
        out.println(path);
      } else if (lost) {
        err.println("crail fsck: left out, as its name has control characters: " + path);
      }
      last = null;
    }

    private String sum(int kind) {
      long count = files[kind];
      return count + (count == 1 ? " file (" : " files (") + ByteText.of(bytes[kind]) + ")";
    }

    /** On a store that changes meanwhile there is nothing to compare with. */
    private String accounts() {
      if (wrongAccounts > 0) {
        return "accounts are wrong";
      }
      return compared == cluster.count()
          ? "accounts are right"
          : "accounts compared at " + compared + " of " + cluster.count() + " namenodes";
    }

    private boolean isWell(boolean repaired) {
      return files[Examine.SILENT] + wrongAccounts == 0 && (repaired || files[Examine.LOST] == 0);
    }
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    boolean pathsOnly = line.hasOption("p");
    boolean repairs = line.hasOption("r");
    if (pathsOnly && repairs) {
      throw new UsageException("either --paths or --repair");
    }
    if (line.hasOption("y") && !repairs) {
      throw new UsageException("--yes goes with --repair");
    }
    try (AdminClient cluster = AdminClient.of(context)) {
      PrintStream out = context.out();
      FsckRepair repair = new FsckRepair(cluster, out);
      Tally tally =
          new Tally(cluster, context, pathsOnly, repairs ? repair::add : (file, namenode) -> {});
      int code = cluster.report(context.err(), tally::examine);
      if (!pathsOnly) {
        out.printf(
            "%d nodes examined; lost: %s; silent: %s; %s%n",
            tally.nodes, tally.sum(Examine.LOST), tally.sum(Examine.SILENT), tally.accounts());
      }
      boolean repaired = repair.isNeeded() && repair(context, repair, line.hasOption("y"));
      return code == 0 && !tally.isWell(repaired) ? ExitCode.FAILURE : code;
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
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import io.crail.bench.report.Json;
import io.crail.common.Addresses;
import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.DatanodeState;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.report.PartialReport;
import io.crail.tool.report.ProgressLines;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.commons.cli.CommandLine;

/** Moves data from fuller to emptier datanodes. */
public final class RebalanceCommand extends OptionsCommand {
  private static final int USUAL_THRESHOLD = 10;

  /** As often the use is measured again, since extents are not as long as planned. */
  private static final int MOST_ROUNDS = 3;

  /** Declares its options. */
  public RebalanceCommand() {
    super(
        "rebalance",
        "moves data from fuller to emptier datanodes",
        "",
        """
Each datanode of a storage class is to be as full as their average, give or take the
threshold. As little as needed is moved, while programs read and write. Files that are being
written are left out. Each namenode has its own part of every datanode and is balanced by
itself; one that is down is left out. Space that was left is free after 'crail.lease'.
""",
        valued(
            "t",
            "threshold",
            "percent",
            "how far from the average, in percent of the space; default " + USUAL_THRESHOLD),
        flag("n", "dry-run", "print what would be moved, and move nothing"),
        flag("j", "json", "print JSON, for programs, at the end"),
        MoveOptions.bandwidth());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail rebalance --dry-run", "what would be moved"),
        new Example("crail rebalance -t 5 -b 100m", "within 5 %, with 100 MiB a second"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    int percent = line.hasOption("t") ? number(line, "t", 1, 100) : USUAL_THRESHOLD;
    long bandwidth = MoveOptions.bandwidth(line);
    try (ShutdownGate gate = ShutdownGate.open()) {
      gate.onAsked(Thread.currentThread()::interrupt);
      try (MoveCluster cluster = MoveCluster.of(context)) {
        Run run = new Run(cluster, context, percent / 100.0, bandwidth, line.hasOption("j"));
        try {
          return run.all(line.hasOption("n"));
        } catch (InterruptedException e) {
          Thread.interrupted();
          context.err().println("crail rebalance: interrupted; moved " + run.moved());
          return ExitCode.FAILURE;
        }
      }
    }
  }

  /** One run over all namenodes. */
  private static final class Run {
    private final MoveCluster cluster;
    private final PrintStream out;
    private final PrintStream err;
    private final double threshold;
    private final ExtentMover mover;
    private final boolean json;
    private final List<BalanceResult.Part> parts = new ArrayList<>();

    /** Datanodes that have taken no data, by their ids at the present namenode. */
    private final Set<Integer> silent = new HashSet<>();

    Run(
        MoveCluster cluster,
        CommandContext context,
        double threshold,
        long bandwidth,
        boolean json) {
      this.cluster = cluster;
      this.json = json;
      this.out = context.out();
      this.err = context.err();
      this.threshold = threshold;
      ProgressLines lines = new ProgressLines(json ? err : out, () -> "moved " + moved());
      this.mover =
          new ExtentMover(cluster.connections(), cluster.transferNanos(), bandwidth, lines);
    }

    String moved() {
      return ByteText.of(mover.bytes()) + " in " + mover.extents() + " extents";
    }

    int all(boolean dry) throws IOException, InterruptedException {
      boolean balanced = true;
      List<MissingNamenode> missing = new ArrayList<>();
      for (int index = 0; index < cluster.count(); index++) {
        try {
          balanced &= balance(index, dry);
        } catch (CrailException e) {
          missing.add(cluster.missing(index, e));
          mover.finish();
        }
      }
      if (missing.size() == cluster.count() && mover.extents() == 0) {
        throw missing.get(0).cause();
      }
      missing.forEach(each -> err.println(Printable.line(PartialReport.without(each))));
      int code = missing.isEmpty() ? 0 : ExitCode.PARTIAL;
      String held = mover.heldUpBy();
      if (json) {
        out.print(
            Json.of(
                new BalanceResult(
                    parts,
                    balanced && missing.isEmpty(),
                    mover.bytes(),
                    mover.extents(),
                    held,
                    missing.stream().map(MissingNamenode::toString).toList())));
      }
      if (dry) {
        return code;
      }
      if (json) {
        return balanced ? code : ExitCode.FAILURE;
      }
      out.println(
          (balanced && missing.isEmpty() ? "balanced" : "not balanced")
              + "; moved "
              + moved()
              + (held.isEmpty() ? "" : Printable.line("; held up: " + held)));
      return balanced ? code : ExitCode.FAILURE;
    }

    /** Balances what belongs to a namenode; false when that is not possible now. */
    private boolean balance(int index, boolean dry) throws IOException, InterruptedException {
      silent.clear();
      for (int round = 0; ; round++) {
        long planned = 0;
        long before = mover.extents();
        int silentBefore = silent.size();
        Map<Integer, String> names = new HashMap<>();
        Map<Integer, List<BalancePlan.Load>> loads = new TreeMap<>();
        for (ReportDatanodes.Datanode each : cluster.datanodes(index)) {
          if (each.state() == DatanodeState.ONLINE && !silent.contains(each.id())) {
            names.put(
                each.id(), Printable.line(Addresses.text(each.host().toString(), each.port())));
            loads
                .computeIfAbsent(each.storageClass(), key -> new ArrayList<>())
                .add(new BalancePlan.Load(each.id(), each.lentBytes(), each.usedBytes()));
          }
        }
        for (Map.Entry<Integer, List<BalancePlan.Load>> each : loads.entrySet()) {
          // No nearer than half of an extent.
          long least = cluster.connections().blockBytesAt(index) / 2;
          BalancePlan plan = BalancePlan.of(each.getValue(), threshold, least);
          if (round == 0) {
            show(index, each.getKey(), each.getValue(), plan, names);
          }
          if (!dry && round < MOST_ROUNDS) {
            follow(index, plan);
          }
          planned += plan.bytes();
        }
        if (planned == 0 || dry) {
          // Without those that are silent, the rest may well look balanced.
          return planned == 0 && silent.isEmpty();
        }
        boolean others = silent.size() > silentBefore;
        if (round == MOST_ROUNDS || (mover.extents() == before && !others)) {
          return false;
        }
      }
    }

    private void show(
        int index,
        int storageClass,
        List<BalancePlan.Load> loads,
        BalancePlan plan,
        Map<Integer, String> names) {
      BalanceResult.Part part =
          new BalanceResult.Part(
              cluster.name(index),
              storageClass,
              plan.average(),
              loads.stream()
                  .map(
                      each ->
                          new BalanceResult.Use(
                              names.get(each.datanode()), each.capacity(), each.used()))
                  .toList(),
              plan.flows().stream()
                  .map(
                      each ->
                          new BalanceResult.Flow(
                              names.get(each.from()), names.get(each.to()), each.bytes()))
                  .toList());
      parts.add(part);
      if (!json) {
        print(part);
      }
    }

    private void print(BalanceResult.Part part) {
      out.printf(
          Locale.ROOT,
          "%s, class %d: %.0f %% used on average%n",
          part.namenode(),
          part.storageClass(),
          100 * part.average());
      for (BalanceResult.Use use : part.datanodes()) {
        out.printf(
            Locale.ROOT,
            "  %-28s %3.0f %% of %s%n",
            use.datanode(),
            100.0 * use.usedBytes() / Math.max(1, use.capacityBytes()),
            ByteText.of(use.capacityBytes()));
      }
      for (BalanceResult.Flow flow : part.plan()) {
        out.printf(
            Locale.ROOT, "  %s from %s to %s%n", ByteText.of(flow.bytes()), flow.from(), flow.to());
      }
      out.flush();
    }

    private void follow(int index, BalancePlan plan) throws IOException, InterruptedException {
      for (BalancePlan.Flow flow : plan.flows()) {
        mover.forgetRefusals();
        mover.beginPart();
        long[] asked = {0};
        cluster.extents(
            index,
            flow.from(),
            placed -> {
              // Refused moves give nothing; the next round makes up for them.
              int length = placed.length();
              if (asked[0] + length / 2 <= flow.bytes()
                  && mover.move(placed, flow.to(), moved -> {})) {
                asked[0] += length;
              }
              return asked[0] < flow.bytes()
                  && !mover.lacksSpace()
                  && !mover.isFailing()
                  && !mover.isTargetSilent();
            });
        mover.finish();
        if (mover.isTargetSilent()) {
          // Others take what it was to get, in the next round.
          silent.add(flow.to());
        }
      }
    }
  }

  /**
   * What a run that balances has found and done, as programs see it. Immutable.
   *
   * @param parts use and plan of each namenode and storage class, before anything was moved
   * @param balanced whether all is within the threshold now; with a dry run, whether it was
   * @param movedBytes bytes that were moved
   * @param movedExtents extents that were moved
   * @param heldUpBy what kept data in its place; may be empty
   * @param missing namenodes that were left out
   */
  public record BalanceResult(
      List<Part> parts,
      boolean balanced,
      long movedBytes,
      long movedExtents,
      String heldUpBy,
      List<String> missing) {
    /**
     * A storage class at a namenode.
     *
     * @param average the part of all space that is used, 0 to 1
     */
    public record Part(
        String namenode, int storageClass, double average, List<Use> datanodes, List<Flow> plan) {}

    /** A datanode, by its address. */
    public record Use(String datanode, long capacityBytes, long usedBytes) {}

    /** What is to be moved. */
    public record Flow(String from, String to, long bytes) {}
  }
}

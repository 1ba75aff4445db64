/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.dist.command.ByteText;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.OptionsCommand;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.ClassUsage;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.apache.commons.cli.CommandLine;

/** Shows the space of the cluster, class by class. */
public final class UsageCommand extends OptionsCommand {
  /** Declares its options. */
  public UsageCommand() {
    super(
        "df",
        "shows space by storage class, and counts nodes and datanodes",
        "",
        """
        Waiting is space that was freed and may be used again when leases have ended.
        Largest is the largest extent that could be given out now.
        """,
        flag("b", "bytes", "print plain numbers of bytes"));
  }

  /** The sums over the namenodes that have answered. */
  private static final class Totals {
    private final Map<Integer, ClassUsage> classes = new TreeMap<>();
    private long nodes;
    private long smallValues;
    private int datanodes;
    private int online;

    void add(Usage.Response usage) {
      usage.classes().forEach(each -> classes.merge(each.storageClass(), each, UsageCommand::sum));
      nodes += usage.nodes();
      smallValues += usage.smallValueBytes();
      // Every datanode is registered at every namenode.
      datanodes = Math.max(datanodes, usage.datanodes());
      online = Math.max(online, usage.onlineDatanodes());
    }
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail df", "space by storage class"),
        new Example("crail df -b", "in plain numbers of bytes, for scripts"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    Totals totals = new Totals();
    int code;
    try (AdminClient cluster = AdminClient.of(context)) {
      code =
          cluster.report(
              context.err(),
              index ->
                  totals.add(cluster.ask(index, NameNodeOperations.USAGE, new Usage.Request())));
    }
    print(context.out(), totals, line.hasOption("b") ? String::valueOf : ByteText::of);
    return code;
  }

  private static void print(PrintStream out, Totals totals, LongFunction<String> text) {
    String row = "%5s %14s %14s %14s %14s %14s%n";
    out.printf(row, "class", "capacity", "used", "free", "waiting", "largest");
    for (ClassUsage usage : totals.classes.values()) {
      out.printf(
          row,
          usage.storageClass(),
          text.apply(usage.capacityBytes()),
          text.apply(usage.usedBytes()),
          text.apply(usage.freeBytes()),
          text.apply(usage.waitingBytes()),
          text.apply(usage.largestFreeExtentBytes()));
    }
    out.printf(
        "%d nodes, %d of %d datanodes online%n", totals.nodes, totals.online, totals.datanodes);
    if (totals.smallValues > 0) {
      out.printf("%s of small values at the namenodes%n", text.apply(totals.smallValues));
    }
  }

  private static ClassUsage sum(ClassUsage a, ClassUsage b) {
    return new ClassUsage(
        a.storageClass(),
        a.capacityBytes() + b.capacityBytes(),
        a.freeBytes() + b.freeBytes(),
        a.usedBytes() + b.usedBytes(),
        a.waitingBytes() + b.waitingBytes(),
        Math.max(a.largestFreeExtentBytes(), b.largestFreeExtentBytes()));
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import io.crail.protocol.ClassUsage;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Usage;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.apache.commons.cli.CommandLine;

/** Shows the space of the cluster, class by class. */
final class UsageCommand extends OptionsCommand {
  UsageCommand() {
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

  @Override
  int run(CommandContext context, CommandLine line) throws Exception {
    Map<Integer, ClassUsage> classes = new TreeMap<>();
    long nodes = 0;
    long smallValues = 0;
    int datanodes = 0;
    int online = 0;
    try (Cluster cluster = Cluster.of(context)) {
      for (int index = 0; index < cluster.count(); index++) {
        Usage.Response usage = cluster.ask(index, NameNodeOperations.USAGE, new Usage.Request());
        usage
            .classes()
            .forEach(each -> classes.merge(each.storageClass(), each, UsageCommand::sum));
        nodes += usage.nodes();
        smallValues += usage.smallValueBytes();
        // Every datanode is registered at every namenode.
        datanodes = Math.max(datanodes, usage.datanodes());
        online = Math.max(online, usage.onlineDatanodes());
      }
    }
    LongFunction<String> text = line.hasOption("b") ? String::valueOf : ByteText::of;
    String row = "%5s %14s %14s %14s %14s %14s%n";
    context.out().printf(row, "class", "capacity", "used", "free", "waiting", "largest");
    for (ClassUsage usage : classes.values()) {
      context
          .out()
          .printf(
              row,
              usage.storageClass(),
              text.apply(usage.capacityBytes()),
              text.apply(usage.usedBytes()),
              text.apply(usage.freeBytes()),
              text.apply(usage.waitingBytes()),
              text.apply(usage.largestFreeExtentBytes()));
    }
    context.out().printf("%d nodes, %d of %d datanodes online%n", nodes, online, datanodes);
    if (smallValues > 0) {
      context.out().printf("%s of small values at the namenodes%n", text.apply(smallValues));
    }
    return 0;
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

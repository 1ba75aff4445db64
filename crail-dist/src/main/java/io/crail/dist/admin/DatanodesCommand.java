/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.common.Addresses;
import io.crail.common.Printable;
import io.crail.dist.command.ByteText;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.OptionsCommand;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.part.Region;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.commons.cli.CommandLine;

/** Lists the datanodes of all namenodes. */
public final class DatanodesCommand extends OptionsCommand {
  private static final class Row {
    private final DescribeDatanode.Response description;
    private long bytes;

    Row(DescribeDatanode.Response description) {
      this.description = description;
    }
  }

  /** Declares its options. */
  public DatanodesCommand() {
    super("datanodes", "lists the datanodes", "", "");
  }

  @Override
  public List<Example> examples() {
    return List.of(new Example("crail datanodes", "all datanodes, with state and address"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    Map<UUID, Row> rows = new LinkedHashMap<>();
    int code;
    try (AdminClient cluster = AdminClient.of(context)) {
      code = cluster.report(context.err(), index -> collect(cluster, index, rows));
    }
    String format = "%-36s %-6s %5s %10s %-7s %s%n";
    context.out().printf(format, "datanode", "tier", "class", "lends", "state", "address");
    rows.forEach(
        (uuid, row) ->
            context
                .out()
                .printf(
                    format,
                    uuid,
                    Printable.line(row.description.tier().toString()),
                    row.description.storageClass(),
                    ByteText.of(row.bytes),
                    row.description.online() ? "online" : "offline",
                    Printable.line(
                        Addresses.text(
                            row.description.host().toString(), row.description.port()))));
    return code;
  }

  private static void collect(AdminClient cluster, int index, Map<UUID, Row> rows)
      throws IOException, InterruptedException {
    for (int id : cluster.datanodes(index)) {
      describe(cluster, index, id, rows);
    }
  }

  /** Adds a datanode with its regions at one namenode. The regions come in pages. */
  private static void describe(AdminClient cluster, int index, int id, Map<UUID, Row> rows)
      throws IOException, InterruptedException {
    int firstRegion = 0;
    while (true) {
      DescribeDatanode.Response page =
          cluster.ask(
              index,
              NameNodeOperations.DESCRIBE_DATANODE,
              new DescribeDatanode.Request(id, firstRegion));
      UUID uuid = new UUID(page.uuidHigh(), page.uuidLow());
      Row row = rows.computeIfAbsent(uuid, key -> new Row(page));
      for (Region region : page.regions()) {
        row.bytes += region.length();
      }
      firstRegion += page.regions().size();
      if (page.regions().isEmpty() || firstRegion >= page.totalRegions()) {
        return;
      }
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.common.ByteText;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.DatanodeAddress;
import io.crail.tool.report.DatanodeReport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.cli.CommandLine;

/** Takes a datanode out of service. */
public final class RemoveDatanodeCommand extends OptionsCommand {
  /** Declares its options. */
  public RemoveDatanodeCommand() {
    super(
        "removeDatanode",
        "takes a datanode out of service",
        "[host:port]",
        """
        The datanode gives out no more space, and ends when the last of its data has been deleted.
        If it is silent, its data is given up: 'crail fsck' then names the files that have lost
        bytes. 'crail drain' moves the data instead.
        'crail datanodes' shows its address; a host's name or another spelling will do, too.
        """,
        valued("i", "host", "host", "host of the datanode; with -p"),
        valued("p", "port", "port", "port of the datanode"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail removeDatanode 10.0.0.7:50020", "the datanode at this address"),
        new Example("crail removeDatanode [::1]:50020", "the same for IPv6"),
        new Example("crail removeDatanode -i node7 -p 50020", "host and port apart"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    DatanodeAddress address = address(line);
    try (AdminClient cluster = AdminClient.of(context)) {
      DatanodeReport datanode = cluster.report().require(address);
      RemoveDatanode.Request request =
          new RemoveDatanode.Request(true, datanode.port(), Utf8.of(datanode.host()));
      Map<Integer, RemoveDatanode.Response> answers = new TreeMap<>();
      int code = cluster.report(context.err(), index -> remove(cluster, index, request, answers));
      context.out().println("datanode " + datanode.address() + outcome(answers));
      return code;
    }
  }

  /**
   * What becomes of a datanode. Each namenode gives up what it has there if it has not heard of the
   * datanode lately.
   *
   * @param answers of the namenodes that know it, by namenode
   */
  static String outcome(Map<Integer, RemoveDatanode.Response> answers) {
    long lost = 0;
    long used = 0;
    List<Integer> silentAt = new ArrayList<>();
    for (Map.Entry<Integer, RemoveDatanode.Response> each : answers.entrySet()) {
      long bytes = each.getValue().usedBytes();
      if (each.getValue().givenUp()) {
        lost += bytes;
        silentAt.add(each.getKey());
      } else {
        used += bytes;
      }
    }
    if (answers.isEmpty()) {
      return " is known to no namenode any more";
    }
    if (silentAt.size() == answers.size()) {
      return " was silent and is removed; " + ByteText.of(lost) + " on it are lost";
    }
    String kept = " is being removed; " + ByteText.of(used) + " on it are still in use";
    return silentAt.isEmpty()
        ? kept
        : kept
            + "; it was silent at namenodes "
            + silentAt
            + ", where "
            + ByteText.of(lost)
            + " are lost";
  }

  /** Removes it at one namenode. One that does not know it is left out. */
  private static void remove(
      AdminClient cluster,
      int index,
      RemoveDatanode.Request request,
      Map<Integer, RemoveDatanode.Response> answers)
      throws IOException, InterruptedException {
    try {
      answers.put(index, cluster.ask(index, NameNodeOperations.REMOVE_DATANODE, request));
    } catch (CrailException e) {
      if (e.code() != ErrorCode.UNKNOWN_DATANODE) {
        throw e;
      }
    }
  }

  private static DatanodeAddress address(CommandLine line) throws UsageException {
    List<String> operands = line.getArgList();
    if (operands.size() > 1 || (!operands.isEmpty() && line.hasOption("i"))) {
      throw new UsageException("one datanode at a time");
    }
    if (operands.isEmpty() && line.hasOption("p")) {
      return new DatanodeAddress(required(line, "i"), port(line, "p"));
    }
    String text = operands.isEmpty() ? required(line, "i") : operands.get(0);
    try {
      return DatanodeAddress.parse(text);
    } catch (IllegalArgumentException e) {
      throw new UsageException("the address '" + text + "' " + e.getMessage());
    }
  }
}

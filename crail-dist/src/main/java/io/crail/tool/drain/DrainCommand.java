/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.DatanodeAddress;
import io.crail.tool.report.DatanodeReport;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Moves the data of a datanode to others. */
public final class DrainCommand extends OptionsCommand {
  /** Declares its options. */
  public DrainCommand() {
    super(
        "drain",
        "moves the data of a datanode to others, until it is empty",
        "<host:port>",
        """
        The datanode gives out no more space, as after 'crail removeDatanode'. Its data moves to
        other datanodes of its storage class, while programs read and write. A file that is being
        written moves when it is closed. When all has moved, and no client can read from the datanode
        any more, its process ends, or stays without lending anything ('crail datanode --stay').
        Until then the command shows what was moved and what holds it up. If it is interrupted, the
        same command goes on, and 'crail drain --cancel' lets the datanode give out space again, as
        it also does after 'crail removeDatanode'. Both need all namenodes. 'crail datanodes' shows
        host and port; a host's name or another spelling will do, too.
        """,
        flag("c", "cancel", "let the datanode give out space again; what has moved stays there"),
        MoveOptions.bandwidth());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail drain 10.0.0.7:50020", "empty the datanode at this address"),
        new Example("crail drain -b 100m 10.0.0.7:50020", "the same with 100 MiB a second"),
        new Example("crail drain --cancel 10.0.0.7:50020", "use it again"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    List<String> operands = line.getArgList();
    if (operands.size() != 1) {
      throw new UsageException(
          operands.isEmpty()
              ? "the address of a datanode is missing, such as 10.0.0.7:50020"
              : "unexpected argument '" + operands.get(1) + "'");
    }
    DatanodeAddress address;
    try {
      address = DatanodeAddress.parse(operands.get(0));
    } catch (IllegalArgumentException e) {
      throw new UsageException("the address '" + operands.get(0) + "' " + e.getMessage());
    }
    long bandwidth = MoveOptions.bandwidth(line);
    try (ShutdownGate gate = ShutdownGate.open()) {
      gate.onAsked(Thread.currentThread()::interrupt);
      try (MoveCluster cluster = MoveCluster.of(context)) {
        DatanodeReport datanode = cluster.report().require(address);
        DatanodeDrain drain =
            new DatanodeDrain(
                cluster, datanode.uuid(), datanode.address(), bandwidth, context.out());
        if (line.hasOption("c")) {
          drain.cancel();
          context.out().println("datanode " + drain.name() + " gives out space again");
          return 0;
        }
        return drain(context, drain);
      }
    }
  }

  private static int drain(CommandContext context, DatanodeDrain drain) throws Exception {
    try {
      drain.begin();
      context
          .out()
          .println(
              "datanode "
                  + drain.name()
                  + " gives out no more space; "
                  + ByteText.of(drain.leftBytes())
                  + " on it are in use");
      context.out().flush();
      drain.run();
      context
          .out()
          .println(
              "datanode "
                  + drain.name()
                  + " is empty, and no client uses it any more; moved "
                  + drain.moved());
      return 0;
    } catch (InterruptedException e) {
      // That was the request to end. Moves in progress end with their connections.
      Thread.interrupted();
      context
          .err()
          .println(
              "crail drain: interrupted; moved "
                  + drain.moved()
                  + "; the datanode stays without new data: the same command goes on, and 'crail"
                  + " drain --cancel' undoes it");
      return ExitCode.FAILURE;
    } catch (CrailException e) {
      if (e.code() != ErrorCode.DATA_LOST && e.code() != ErrorCode.CLOSED) {
        throw e;
      }
      context.err().println("crail drain: " + Printable.line(e.detail()));
      return ExitCode.FAILURE;
    }
  }
}

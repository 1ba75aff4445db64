/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.common.Addresses;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.ByteText;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.OptionsCommand;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.RemoveDatanode;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Takes a datanode out of service. */
public final class RemoveDatanodeCommand extends OptionsCommand {
  /** Declares its options. */
  public RemoveDatanodeCommand() {
    super(
        "removeDatanode",
        "takes a datanode out of service",
        "",
        """
        The datanode gives out no more space, and ends when the last of its data has been deleted.
        'crail datanodes' shows host and port.
        """,
        valued("i", "host", "host", "host of the datanode, as it registered"),
        valued("p", "port", "port", "port of the datanode"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail removeDatanode -i 10.0.0.7 -p 50020", "the datanode at this address"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    String host = required(line, "i");
    required(line, "p");
    int port = port(line, "p");
    RemoveDatanode.Request request = new RemoveDatanode.Request(port, Utf8.of(host));
    long used = 0;
    int known = 0;
    CrailException unknown = null;
    try (AdminClient cluster = AdminClient.of(context)) {
      for (int index = 0; index < cluster.count(); index++) {
        try {
          used += cluster.ask(index, NameNodeOperations.REMOVE_DATANODE, request).usedBytes();
          known++;
        } catch (CrailException e) {
          if (e.code() != ErrorCode.UNKNOWN_DATANODE) {
            throw e;
          }
          unknown = e;
        }
      }
    }
    if (known == 0) {
      throw unknown;
    }
    context
        .out()
        .println(
            "datanode "
                + Addresses.text(host, port)
                + " is being removed; "
                + ByteText.of(used)
                + " on it are still in use");
    return 0;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.common.error.CrailException;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.ExitCode;
import io.crail.dist.command.OptionsCommand;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Ping;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.commons.cli.CommandLine;

/** Asks whether the namenodes are alive. */
public final class PingCommand extends OptionsCommand {
  /** Declares its options. */
  public PingCommand() {
    super(
        "ping", "asks every namenode for a sign of life", "", "Fails when one does not answer.\n");
  }

  @Override
  public List<Example> examples() {
    return List.of(new Example("crail ping", "whether each namenode answers, and how fast"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    int failed = 0;
    try (AdminClient cluster = AdminClient.of(context)) {
      for (int index = 0; index < cluster.count(); index++) {
        try {
          ping(cluster, index);
          long begin = System.nanoTime();
          ping(cluster, index);
          long micros = (System.nanoTime() - begin) / 1000;
          context.out().println(cluster.name(index) + " answers in " + micros + " us");
        } catch (CrailException e) {
          failed++;
          context.err().println(cluster.name(index) + " does not answer: " + e.getMessage());
        }
      }
    }
    return failed == 0 ? 0 : ExitCode.FAILURE;
  }

  private static void ping(AdminClient cluster, int index) throws Exception {
    long data = ThreadLocalRandom.current().nextLong();
    Ping.Response response = cluster.ask(index, NameNodeOperations.PING, new Ping.Request(data));
    if (response.data() != data) {
      throw new AssertionError("ping " + data + " was answered with " + response.data());
    }
  }
}

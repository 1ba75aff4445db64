/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import io.crail.bench.run.BenchContext;
import io.crail.common.config.Configuration;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;

/** The cluster of a command: the configured one, or one in this process. */
public final class CommandCluster implements AutoCloseable {
  private final CommandContext context;
  private ShutdownGate gate;
  private EmbeddedCrail crail;

  /** Creates it without starting anything. */
  public CommandCluster(CommandContext context) {
    this.context = context;
  }

  /**
   * True when the command needs a cluster in this process: because an option says so, or because
   * nothing says where another cluster is.
   */
  static boolean isWanted(CommandContext context) {
    return context.options().embedded() || !context.namesCluster(context.configuration());
  }

  /**
   * Returns the configuration of the cluster to use, and starts a cluster first if one is needed.
   */
  Configuration open() throws IOException {
    return isWanted(context) ? start(context.configuration()) : context.configuration();
  }

  /**
   * Returns the configuration of the cluster to use, and starts a cluster first if an option asks
   * for it.
   */
  public Configuration openConfigured() throws IOException {
    return context.options().embedded() ? start(context.configuration()) : context.configuration();
  }

  /** The context of a benchmark that measures this cluster. */
  public BenchContext benchContext() {
    return new BenchContext(
        this::open, isWanted(context), context.out(), context.err(), context.hasTerminal());
  }

  private Configuration start(Configuration configuration) throws IOException {
    if (!context.options().embedded()) {
      context
          .err()
          .println(
              "crail: crail.namenode.address is not set"
                  + (context.file() == null ? "" : " in " + context.file())
                  + "; starting a cluster in this process");
    }
    gate = ShutdownGate.open();
    gate.onAsked(Thread.currentThread()::interrupt);
    crail = EmbeddedCrail.builder().configuration(configuration).start();
    return crail.configuration();
  }

  @Override
  public void close() {
    if (crail != null) {
      crail.close();
    }
    if (gate != null) {
      gate.close();
    }
  }
}

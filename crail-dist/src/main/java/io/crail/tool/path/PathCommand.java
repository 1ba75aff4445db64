/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.UsageException;
import java.util.List;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.Option;

/**
 * A command on paths of the store. A failure for one path is printed in a line; the command goes on
 * with the others, and ends with 1.
 */
abstract class PathCommand extends OptionsCommand {
  PathCommand(String name, String sentence, String operands, String details, Option... options) {
    super(name, sentence, operands, details, options);
  }

  /** The option for plain numbers of bytes. */
  static Option bytesOption() {
    return flag("b", "bytes", "print plain numbers of bytes");
  }

  /** So that {@code -lh} and {@code -sh} mean what they mean elsewhere. */
  static Option humanOption() {
    return flag("h", "human-readable", "no change, as in -lh; alone, -h is --help");
  }

  /** The option for JSON; a listing has no end that is known, so each node has a line. */
  static Option jsonOption() {
    return flag("j", "json", "print JSON, for programs: an object a line");
  }

  @Override
  protected final int run(CommandContext context, CommandLine line) throws Exception {
    check(line);
    for (String operand : line.getArgList()) {
      if (operand.isEmpty()) {
        throw new UsageException("an argument is empty; is a variable not set?");
      }
    }
    try (CommandCluster cluster = new CommandCluster(context)) {
      Configuration configuration = cluster.openConfigured();
      try (CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration))) {
        PathRun run = new PathRun(name(), context, store, configuration);
        try {
          execute(run, line);
        } finally {
          run.out().flush();
        }
        return run.code();
      }
    }
  }

  /** Refuses a wrong command line, before anything is started. */
  void check(CommandLine line) throws UsageException {}

  /** Runs the command. */
  abstract void execute(PathRun run, CommandLine line) throws Exception;

  /** The operands. There has to be one at least. */
  static List<String> atLeast(int count, String what, CommandLine line) throws UsageException {
    List<String> operands = line.getArgList();
    if (operands.size() < count) {
      throw new UsageException(
          operands.isEmpty()
              ? what + " is missing"
              : "after '" + last(operands) + "' more is needed: " + what);
    }
    return operands;
  }

  static String last(List<String> operands) {
    return operands.get(operands.size() - 1);
  }
}

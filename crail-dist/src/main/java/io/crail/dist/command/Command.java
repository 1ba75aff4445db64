/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.command;

import java.util.List;

/** One command of {@code bin/crail}. Stateless. */
public interface Command {
  /** The word on the command line. */
  String name();

  /** What it does, for the list of commands. */
  String sentence();

  /** Whether it uses a cluster, which can then be one in its own process. */
  default boolean usesCluster() {
    return true;
  }

  /**
   * Whether the options that all commands have stand in front of what is this command's own. Else
   * they may stand anywhere.
   */
  default boolean commonOptionsComeFirst() {
    return false;
  }

  /** Text of {@code --help}, without the options that all commands have. */
  String help();

  /**
   * Runs the command.
   *
   * @param arguments what stands after the command's name, without the options that all have
   * @return the exit code
   * @throws UsageException when the arguments are wrong; exit code 2
   * @throws Exception when it failed; exit code 1
   */
  int run(CommandContext context, List<String> arguments) throws Exception;
}

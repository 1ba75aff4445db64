/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import java.util.List;

/** One command of {@code bin/crail}. Stateless. */
public interface Command {
  /** The word on the command line. */
  String name();

  /** What it does, for the list of commands. */
  String sentence();

  /** Whether it uses a cluster. If so, the cluster can run in its own process. */
  default boolean usesCluster() {
    return true;
  }

  /**
   * Whether the common options must come before this command's own arguments. Otherwise they may be
   * anywhere.
   */
  default boolean commonOptionsComeFirst() {
    return false;
  }

  /** The text of {@code --help}, without the examples and the common options. */
  String help();

  /** Command lines that work, for {@code --help}; every command has some. */
  default List<Example> examples() {
    return List.of();
  }

  /** The options, for completion: by default those that the help explains. */
  default List<OptionWord> options() {
    return OptionWord.inHelp(help());
  }

  /** Words that may follow the options, for completion; empty when the text is free. */
  default List<String> operands() {
    return List.of();
  }

  /** Whether files of this host may follow the options. */
  default boolean takesFiles() {
    return false;
  }

  /**
   * Runs the command.
   *
   * @param arguments the arguments after the command's name, without the common options
   * @return the exit code
   * @throws UsageException when the arguments are wrong; exit code 2
   * @throws Exception when the command fails; exit code 1
   */
  int run(CommandContext context, List<String> arguments) throws Exception;
}

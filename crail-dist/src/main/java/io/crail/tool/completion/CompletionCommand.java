/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.completion;

import io.crail.tool.command.Command;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.UsageException;
import java.util.List;
import java.util.function.Supplier;
import org.apache.commons.cli.CommandLine;

/** Prints the script that lets a shell complete command lines. */
public final class CompletionCommand extends OptionsCommand {
  private static final String BASH = "bash";
  private static final String ZSH = "zsh";

  private final Supplier<List<Command>> commands;

  /**
   * Declares it.
   *
   * @param commands gives all commands
   */
  public CompletionCommand(Supplier<List<Command>> commands) {
    super(
        "completion",
        "prints a script with which bash or zsh completes command lines",
        "bash|zsh",
        """
        The script completes commands, options, keys and files of this host, but no paths of the store.
        Print it again after an upgrade.
        """);
    this.commands = commands;
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("source <(crail completion bash)", "in ~/.bashrc, or in a running bash"),
        new Example("source <(crail completion zsh)", "in ~/.zshrc, after compinit"));
  }

  @Override
  public List<String> operands() {
    return List.of(BASH, ZSH);
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws UsageException {
    List<String> shells = line.getArgList();
    if (shells.size() != 1 || !operands().contains(shells.get(0))) {
      throw new UsageException("which shell is missing: bash or zsh");
    }
    ScriptWords words = new ScriptWords(commands.get());
    context
        .out()
        .print(shells.get(0).equals(BASH) ? BashScript.text(words) : ZshScript.text(words));
    return 0;
  }
}

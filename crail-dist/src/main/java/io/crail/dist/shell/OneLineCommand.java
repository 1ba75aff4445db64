/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.shell;

import io.crail.dist.command.ExitCode;
import io.crail.dist.command.OutputFailedException;
import org.apache.hadoop.fs.shell.Command;
import org.apache.hadoop.fs.shell.FsCommand;

/** A command of Hadoop's shell that ends in one line where Crail lacks the operation. */
final class OneLineCommand extends FsCommand {
  private final Command command;

  OneLineCommand(Command command) {
    super(command.getConf());
    this.command = command;
  }

  @Override
  public int run(String... arguments) {
    try {
      return command.run(arguments);
    } catch (UnsupportedOperationException e) {
      command.displayError("Crail does not offer this: " + e.getMessage());
      return ExitCode.FAILURE;
    } catch (OutputFailedException e) {
      // The launcher says it; Hadoop would print a trace.
      return ExitCode.FAILURE;
    }
  }

  @Override
  public String getName() {
    return command.getName();
  }

  @Override
  public String getUsage() {
    return command.getUsage();
  }

  @Override
  public String getDescription() {
    return command.getDescription();
  }

  @Override
  public String getReplacementCommand() {
    return command.getReplacementCommand();
  }
}

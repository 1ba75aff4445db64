/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.shell;

import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OutputFailedException;
import java.util.Arrays;
import org.apache.hadoop.fs.shell.Command;
import org.apache.hadoop.fs.shell.FsCommand;

/**
 * A command of Hadoop's shell that ends in one line where Crail lacks the operation, or it fails.
 */
final class OneLineCommand extends FsCommand {
  private final Command command;

  OneLineCommand(Command command) {
    super(command.getConf());
    this.command = command;
  }

  @Override
  public int run(String... arguments) {
    if (command.getName().equals("stat") && command.out instanceof PrintableStream out) {
      Arrays.stream(arguments)
          .filter(argument -> !argument.startsWith("-"))
          .findFirst()
          .filter(format -> format.contains("%"))
          .ifPresent(out::allow);
    }
    try {
      return command.run(arguments);
    } catch (UnsupportedOperationException e) {
      command.displayError("Crail does not offer this: " + e.getMessage());
      return ExitCode.FAILURE;
    } catch (OutputFailedException e) {
      // The launcher says it; Hadoop would print a trace.
      return ExitCode.FAILURE;
    } catch (IllegalArgumentException e) {
      // Hadoop's shell explains the command.
      throw e;
    } catch (RuntimeException e) {
      command.displayError("a defect of Hadoop's shell: " + e);
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

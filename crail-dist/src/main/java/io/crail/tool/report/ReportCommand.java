/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.tool.command.CommandContext;
import io.crail.tool.command.OptionsCommand;
import java.util.Arrays;
import java.util.stream.Stream;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.Option;

/** A command that shows a report: as text or JSON, once or again and again. */
public abstract class ReportCommand extends OptionsCommand {
  /**
   * Declares a command.
   *
   * @param details more text for the help; may be empty
   * @param more its options beside those of every report
   */
  protected ReportCommand(String name, String sentence, String details, Option... more) {
    super(name, sentence, "", details, with(more));
  }

  private static Option[] with(Option[] more) {
    Option watch =
        Option.builder("w")
            .longOpt("watch")
            .hasArg()
            .optionalArg(true)
            .argName("interval")
            .desc("show it again and again, by default every 2 s")
            .get();
    return Stream.concat(
            Arrays.stream(more), Stream.of(flag("j", "json", "print JSON, for programs"), watch))
        .toArray(Option[]::new);
  }

  /** The option for plain numbers, of reports with sizes. */
  protected static Option bytes() {
    return flag("b", "bytes", "print plain numbers of bytes");
  }

  @Override
  protected final int run(CommandContext context, CommandLine line) throws Exception {
    return run(context, line, Display.of(context, line));
  }

  /**
   * Runs the command.
   *
   * @param display shows its reports
   */
  protected abstract int run(CommandContext context, CommandLine line, Display display)
      throws Exception;
}

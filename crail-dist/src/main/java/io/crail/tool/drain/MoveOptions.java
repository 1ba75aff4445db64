/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import io.crail.common.config.ConfigType;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.UsageException;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.Option;

/** What the commands that move data have in common on their command lines. */
final class MoveOptions {
  private MoveOptions() {}

  /** The option for the bandwidth. */
  static Option bandwidth() {
    return OptionsCommand.valued(
        "b", "bandwidth", "bytes", "move at most so many bytes a second, such as 100m");
  }

  /** The bytes a second; 0 for all that goes. */
  static long bandwidth(CommandLine line) throws UsageException {
    String text = line.getOptionValue("b");
    if (text == null) {
      return 0;
    }
    long bytes = 0;
    try {
      bytes = ConfigType.parseBytes(text);
    } catch (IllegalArgumentException e) {
      // The message below says the same of zero.
    }
    if (bytes == 0) {
      throw new UsageException(
          "option -b has the bad value '"
              + text
              + "': must be a number of bytes such as 512k or 100m");
    }
    return bytes;
  }
}

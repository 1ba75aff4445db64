/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.apache.commons.cli.CommandLine;

/** Says which Crail this is. */
final class VersionCommand extends OptionsCommand {
  VersionCommand() {
    super("version", "prints the version", "", "");
  }

  @Override
  int run(CommandContext context, CommandLine line) {
    context.out().println("crail " + version() + ", Java " + Runtime.version());
    return 0;
  }

  private static String version() {
    Properties properties = new Properties();
    try (InputStream in = VersionCommand.class.getResourceAsStream("version.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new AssertionError("version.properties is broken", e);
    }
    return properties.getProperty("version");
  }
}

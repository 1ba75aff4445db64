/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import io.crail.dist.command.CommandContext;
import io.crail.dist.command.OptionsCommand;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.apache.commons.cli.CommandLine;

/** Prints the version of Crail. */
public final class VersionCommand extends OptionsCommand {
  /** Declares its options. */
  public VersionCommand() {
    super("version", "prints the version", "", "");
  }

  @Override
  protected int run(CommandContext context, CommandLine line) {
    context.out().println("crail " + version() + ", Java " + Runtime.version());
    return 0;
  }

  /** The version of Crail. */
  public static String version() {
    Properties properties = new Properties();
    try (InputStream in =
        VersionCommand.class.getResourceAsStream("/io/crail/dist/version.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new AssertionError("version.properties is broken", e);
    }
    return properties.getProperty("version");
  }
}

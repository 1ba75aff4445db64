/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.rpc.Frame;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionsCommand;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Properties;
import org.apache.commons.cli.CommandLine;

/** Prints the versions that matter when two processes do not understand each other. */
public final class VersionCommand extends OptionsCommand {
  /** Declares its options. */
  public VersionCommand() {
    super(
        "version",
        "prints the versions of Crail, Java and the protocol",
        "",
        "Processes of a cluster need the same version of the protocol.\n");
  }

  @Override
  public List<Example> examples() {
    return List.of(new Example("crail version", "as a report of a defect should have it"));
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) {
    Properties properties = properties();
    String commit = properties.getProperty("commit");
    context.out().println("crail " + version() + (commit.isEmpty() ? "" : ", commit " + commit));
    context.out().println("Java " + Runtime.version() + ", " + System.getProperty("java.vendor"));
    context.out().println("protocol " + Frame.VERSION);
    return 0;
  }

  /** The version of Crail. */
  public static String version() {
    return properties().getProperty("version");
  }

  private static Properties properties() {
    Properties properties = new Properties();
    try (InputStream in =
        VersionCommand.class.getResourceAsStream("/io/crail/tool/version.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new AssertionError("version.properties is broken", e);
    }
    return properties;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.shell;

import io.crail.common.NamenodeAddresses;
import io.crail.common.Printable;
import io.crail.hadoop.CrailFileSystem;
import io.crail.protocol.ClusterKeys;
import io.crail.tool.command.ExitCode;
import java.io.PrintStream;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.shell.Command;
import org.apache.hadoop.fs.shell.CommandFactory;
import org.apache.hadoop.fs.shell.FsCommand;
import org.apache.hadoop.util.ToolRunner;

/** The file shell. Among the commands, only the classes of the shell need Hadoop. */
final class HadoopShell extends FsShell {
  private static final String IMPLEMENTATION_KEY = "fs.crail.impl";

  private HadoopShell(Configuration configuration) {
    super(configuration);
  }

  /**
   * Runs a command line of the shell.
   *
   * @param crail the cluster
   * @param more keys of Hadoop, and the user if it is not Hadoop's
   * @param err the stream that names the missing parts of listings
   * @return the exit code; a failure also when a part was missing
   */
  static int run(
      io.crail.common.config.Configuration crail,
      Map<String, String> more,
      List<String> arguments,
      PrintStream err)
      throws Exception {
    ShellConfiguration hadoop =
        new ShellConfiguration(crail.get(ClusterKeys.NAMENODE_ADDRESS).size());
    hadoop.setClass(IMPLEMENTATION_KEY, ShellFileSystem.class, FileSystem.class);
    hadoop.set(CommonConfigurationKeysPublic.FS_DEFAULT_NAME_KEY, root(crail).toString());
    fill(hadoop, crail, more);
    try {
      int code = ToolRunner.run(new HadoopShell(hadoop), arguments.toArray(new String[0]));
      List<String> incomplete = hadoop.incomplete();
      incomplete.forEach(each -> err.println("crail fs: " + Printable.line(each)));
      return code == 0 && !incomplete.isEmpty() ? ExitCode.FAILURE : code;
    } finally {
      FileSystem.closeAll();
    }
  }

  /** Sets the keys of a command line in Hadoop's configuration. */
  static void fill(
      Configuration hadoop, io.crail.common.config.Configuration crail, Map<String, String> more) {
    // The complete configuration, since its file may be another one than programs find.
    hadoop.set(CrailFileSystem.SITE_FILE_KEY, "");
    Map<String, String> texts = crail.texts();
    // The user in the file is the owner of the root, and not the user of this command.
    texts.remove(ClusterKeys.USER.name());
    texts.forEach(hadoop::set);
    more.forEach(hadoop::set);
  }

  /** The root of the file system. It names the namenodes if a URI can. */
  private static URI root(io.crail.common.config.Configuration crail) {
    NamenodeAddresses namenodes = crail.get(ClusterKeys.NAMENODE_ADDRESS);
    String authority = namenodes.toString();
    boolean unnameable =
        authority.contains("|") || (namenodes.size() > 1 && authority.contains("["));
    return URI.create("crail://" + (unnameable ? "" : authority) + "/");
  }

  /** Registers Hadoop's commands, which its shell does not offer to subclasses. */
  @Override
  protected void registerCommands(CommandFactory factory) {
    factory.registerCommands(FsCommand.class);
  }

  @Override
  protected void init() {
    if (commandFactory == null) {
      super.init();
      commandFactory = new PrintableCommands(getConf(), commandFactory);
    }
  }

  /** The commands of another factory, changed so that they print names harmlessly. */
  private static final class PrintableCommands extends CommandFactory {
    private final CommandFactory commands;

    PrintableCommands(Configuration configuration, CommandFactory commands) {
      super(configuration);
      this.commands = commands;
    }

    @Override
    public Command getInstance(String name) {
      return getInstance(name, getConf());
    }

    @Override
    public Command getInstance(String name, Configuration configuration) {
      Command command = commands.getInstance(name, configuration);
      if (command == null) {
        return null;
      }
      command.out = new PrintableStream(System.out);
      command.err = new PrintableStream(System.err);
      return new OneLineCommand(command);
    }

    @Override
    public String[] getNames() {
      return commands.getNames();
    }
  }

  @Override
  protected String getUsagePrefix() {
    return "Usage: crail fs [options]";
  }
}

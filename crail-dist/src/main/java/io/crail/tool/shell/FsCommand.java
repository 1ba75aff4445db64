/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.shell;

import io.crail.common.config.Configuration;
import io.crail.tool.command.Command;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionWord;
import io.crail.tool.command.UsageException;
import java.util.List;
import java.util.regex.Pattern;

/** Hadoop's file shell, with the cluster as its file system. */
public final class FsCommand implements Command {
  private static final Pattern ACTION = Pattern.compile("crail fs (-[a-zA-Z]+)");

  @Override
  public String name() {
    return "fs";
  }

  @Override
  public String sentence() {
    return "lists, copies, shows and removes files, as 'hadoop fs' does";
  }

  @Override
  public boolean commonOptionsComeFirst() {
    return true;
  }

  @Override
  public String help() {
    return """
    Usage: crail fs [options] -<action> [arguments]

    Lists, copies, shows and removes files, as 'hadoop fs' does. Paths are of this cluster, those
    without a '/' in front below /user/<name>; a file of this host is file:///path.

      crail fs -ls [-R] <path>          crail fs -put [-f] <local file> <path>
      crail fs -mkdir -p <path>         crail fs -get <path> <local file>
      crail fs -cat <path>              crail fs -appendToFile <local file> <path>
      crail fs -mv <from> <to>          crail fs -du -s -h <path>
      crail fs -rm -r <path>            crail fs -test -e <path>

    Names are shown with their control characters as escapes, such as \\n; those of -find -print0 are
    for programs and stay as they are. Where a namenode is down a listing of / shows what the others
    have, says what is missing, and fails.

    'crail fs -help' lists all actions, 'crail fs -help <action>' explains one. Exit codes are those
    of 'hadoop fs'. Options of every command stand in front of the action; --set also takes keys of
    Hadoop.
    """;
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail fs -ls /", "what is in the root"),
        new Example("crail fs -put -f README.md /readme", "a file of this host"),
        new Example(
            "crail fs -Dcrail.rpctimeout=5s -du -h /", "options of every command come first"));
  }

  /** The actions that the help shows; only Hadoop knows the others. */
  @Override
  public List<OptionWord> options() {
    return ACTION
        .matcher(help())
        .results()
        .map(action -> new OptionWord(List.of(action.group(1)), false, List.of()))
        .toList();
  }

  @Override
  public boolean takesFiles() {
    return true;
  }

  @Override
  public int run(CommandContext context, List<String> arguments) throws Exception {
    if (arguments.isEmpty()) {
      throw new UsageException("what to do is missing, such as -ls /");
    }
    try (CommandCluster cluster = new CommandCluster(context.withCrailSettings())) {
      Configuration crail = cluster.openConfigured();
      return HadoopShell.run(crail, context.hadoopSettings(), arguments, context.err());
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.common.error.NodeNotFoundException;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.commons.cli.CommandLine;

/** Removes nodes. */
public final class RemoveCommand extends PathCommand {
  /** Declares its options. */
  public RemoveCommand() {
    super(
        "rm",
        "removes files, values and, with -r, directories",
        "<path>...",
        """
        There is no trash: what is removed is gone. When one path fails, the others are still removed,
        and the command ends with 1.
        """,
        flag("r", "recursive", "also remove directories, tables and multifiles with all they hold"),
        flag("f", "force", "do not complain about a path that does not exist"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail rm /data/part-0 /data/part-1", "two files"),
        new Example("crail rm -r /data", "a directory with all that is in it"));
  }

  @Override
  void check(CommandLine line) throws UsageException {
    atLeast(1, "a path", line);
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    boolean recursive = line.hasOption("r");
    boolean force = line.hasOption("f");
    for (String path : line.getArgList()) {
      run.attempt(path, () -> remove(run, path, recursive, force));
    }
  }

  private static void remove(PathRun run, String path, boolean recursive, boolean force)
      throws Exception {
    if (PathRun.isRoot(path)) {
      throw new IOException(
          "the root cannot be removed; name what is in it, as 'crail ls /' shows it");
    }
    CrailNode node = force ? run.store().lookup(path).get() : run.find(path);
    if (node == null) {
      return;
    }
    if (node.getType().isContainer() && !recursive) {
      String type = NodeTypes.word(node.getType());
      throw new IOException("is a " + type + "; -r removes it with all that is in it");
    }
    try {
      run.store().delete(path, recursive).get();
    } catch (ExecutionException e) {
      // With -f it does not matter who has removed it, nor when.
      if (!force || !(e.getCause() instanceof NodeNotFoundException)) {
        throw e;
      }
    }
  }
}

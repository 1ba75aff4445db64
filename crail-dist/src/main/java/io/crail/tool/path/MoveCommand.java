/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.protocol.part.NodePath;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.io.IOException;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Gives nodes other paths. */
public final class MoveCommand extends PathCommand {
  /** Declares its options. */
  public MoveCommand() {
    super(
        "mv",
        "gives nodes other paths, or moves them into a directory",
        "<path>... <path>",
        """
        Every reader sees a move as one step, and no bytes move. With several namenodes a node can only
        move below one name of the root, or to another one at the same namenode.
        """,
        flag("f", "force", "replace a file that exists already"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail mv /data/a /data/b", "another name"),
        new Example("crail mv /data/a /data/b /data/old", "two files into a directory"));
  }

  @Override
  void check(CommandLine line) throws UsageException {
    atLeast(2, "the path to move to", line);
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    boolean force = line.hasOption("f");
    List<String> operands = line.getArgList();
    String to = last(operands);
    List<String> sources = operands.subList(0, operands.size() - 1);
    run.attempt(
        to,
        () -> {
          CrailNode target = run.store().lookup(to).get();
          boolean into = target != null && target.getType().isContainer();
          if (!into && sources.size() > 1) {
            throw new IOException("has to be a directory, to move several nodes into it");
          }
          for (String from : sources) {
            run.attempt(from, () -> move(run, from, to, into, force));
          }
        });
  }

  private static void move(PathRun run, String from, String to, boolean into, boolean force)
      throws Exception {
    if (PathRun.isRoot(from)) {
      throw new IOException("the root stays where it is");
    }
    String place = into ? PathRun.child(to, PathRun.name(from)) : to;
    run.takes(place);
    if (!force && run.store().lookup(place).get() != null) {
      run.find(from);
      throw new IOException(place + " exists already; -f replaces a file");
    }
    String above = NodePath.parent(place);
    if (run.store().lookup(above).get() == null) {
      run.find(from);
      throw new IOException("there is no " + above + "; make it: crail mkdir -p " + above);
    }
    run.store().rename(from, place, force).get();
  }
}

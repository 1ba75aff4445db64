/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.common.error.NodeExistsException;
import io.crail.protocol.part.NodePath;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.commons.cli.CommandLine;

/** Makes directories, multifiles and tables. */
public final class MakeCommand extends PathCommand {
  /** Declares its options. */
  public MakeCommand() {
    super(
        "mkdir",
        "makes directories, tables and multifiles",
        "<path>...",
        """
        Nodes that are made below take the classes of what they are in, unless they name others.
        """,
        flag("p", "parents", "also make missing directories above; an existing one will do"),
        valued(
            "t",
            "type",
            "type",
            "directory (the default), table, multifile, or bag, which is the same"),
        flag("A", "spread", "spread the children of a directory or table over all namenodes"),
        PlacementOptions.storage(),
        PlacementOptions.strict(),
        PlacementOptions.location());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail mkdir -p /data/2026", "a directory, and the one above"),
        new Example("crail mkdir -t table /cache", "a table for key-values"),
        new Example("crail mkdir --spread -t table /big", "a table with a share at each namenode"),
        new Example("crail mkdir -c 1 /cold", "files in it go to storage class 1"));
  }

  @Override
  protected List<String> values(String option) {
    return option.equals("--type") ? NodeTypes.CONTAINER_WORDS : List.of();
  }

  @Override
  void check(CommandLine line) throws UsageException {
    atLeast(1, "a path", line);
    CrailNodeType type = type(line);
    if (line.hasOption("A") && type == CrailNodeType.MULTIFILE) {
      throw new UsageException("only a directory or a table can be spread");
    }
    PlacementOptions.of(line);
  }

  /** Makes one node. */
  @FunctionalInterface
  private interface Maker {
    CrailNode make(String path, CrailNodeType type) throws Exception;
  }

  private static CrailNodeType type(CommandLine line) throws UsageException {
    String word = line.getOptionValue("t", NodeTypes.CONTAINER_WORDS.get(0));
    CrailNodeType type = NodeTypes.CONTAINERS.get(word);
    if (type == null) {
      throw new UsageException(
          "option -t has the bad value '"
              + word
              + "': must be one of "
              + String.join(", ", NodeTypes.CONTAINER_WORDS));
    }
    return type;
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    CrailNodeType type = type(line);
    Placement placement = PlacementOptions.of(line);
    boolean parents = line.hasOption("p");
    Maker maker =
        line.hasOption("A")
            ? (path, of) -> placement.createSpread(run.store(), path, of)
            : (path, of) -> placement.create(run.store(), path, of);
    for (String path : line.getArgList()) {
      run.attempt(
          path,
          () -> {
            if (parents) {
              makeAll(run, path, type, placement, maker);
            } else {
              maker.make(path, type);
            }
          });
    }
  }

  /** Makes a node, and directories above it. */
  private static void makeAll(
      PathRun run, String path, CrailNodeType type, Placement placement, Maker maker)
      throws Exception {
    if (PathRun.isRoot(path)) {
      return;
    }
    CrailNode present = run.store().lookup(path).get();
    if (present == null) {
      Maker above = (parent, of) -> placement.create(run.store(), parent, of);
      makeAll(run, NodePath.parent(path), CrailNodeType.DIRECTORY, placement, above);
      try {
        maker.make(path, type);
        return;
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof NodeExistsException)) {
          throw e;
        }
        // Another client was faster.
        present = run.find(path);
      }
    }
    if (present.getType() != type) {
      throw new IOException(
          present.getPath() + " exists already, as a " + NodeTypes.word(present.getType()));
    }
  }
}

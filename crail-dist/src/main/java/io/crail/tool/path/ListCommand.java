/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.tool.command.Colours;
import io.crail.tool.command.Example;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import org.apache.commons.cli.CommandLine;

/** Lists nodes, as the namenode sends them: however many there are, they take no memory here. */
public final class ListCommand extends PathCommand {
  /** Declares its options. */
  public ListCommand() {
    super(
        "ls",
        "lists what is in directories, tables and multifiles",
        "[path...]",
        """
        Without a path it lists the root. Each line has a whole path, in the order of the namenode;
        'sort' sorts. Control characters in names are shown as escapes. Nodes that were made not to be
        listed are not shown. Where a namenode is down, the listing of / and of a spread directory
        shows what the others have, says what is missing, and ends with 3, unless the directory
        itself is at that namenode.
        """,
        flag("l", "long", "also show type, size and the time of the last change"),
        flag("R", "recursive", "also list what is below"),
        flag("d", "directory", "show the nodes themselves, not what is in them"),
        bytesOption(),
        humanOption(),
        jsonOption());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail ls", "what is in the root"),
        new Example("crail ls -l /data", "with types, sizes and times"),
        new Example("crail ls -lRb / | sort -k 2 -n", "all nodes by size"));
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    Lister lister = new Lister(run, line);
    List<String> paths = line.getArgList();
    for (String path : paths.isEmpty() ? List.of("/") : paths) {
      run.attempt(path, () -> lister.list(path));
    }
  }

  /**
   * A node; a container has no bytes of its own.
   *
   * @param spread whether the children are spread over all namenodes
   */
  public record Entry(String path, String type, Long bytes, Instant modified, boolean spread) {}

  /** How a run lists. */
  private static final class Lister {
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm", Locale.ROOT)
            .withZone(ZoneId.systemDefault());

    private final PathRun run;
    private final boolean isLong;
    private final boolean json;
    private final boolean recursive;
    private final boolean itself;
    private final LongFunction<String> size;
    private final Colours colours;

    Lister(PathRun run, CommandLine line) {
      this.run = run;
      this.isLong = line.hasOption("l");
      this.json = line.hasOption("j");
      this.recursive = line.hasOption("R");
      this.itself = line.hasOption("d");
      this.size = line.hasOption("b") ? String::valueOf : ByteText::of;
      this.colours = run.context().colours();
    }

    void list(String path) throws Exception {
      CrailNode node = run.find(path);
      if (itself || !node.getType().isContainer()) {
        print(node);
      } else {
        children(node);
      }
    }

    private void children(CrailNode container) throws Exception {
      Iterator<CrailNode> each = container.asContainer().listStatus();
      while (each.hasNext()) {
        CrailNode child = each.next();
        print(child);
        if (recursive && child.getType().isContainer()) {
          run.attempt(child.getPath(), () -> children(child));
        }
      }
    }

    private void print(CrailNode node) throws Exception {
      boolean container = node.getType().isContainer();
      if (json) {
        run.json(
            new Entry(
                node.getPath(),
                NodeTypes.word(node.getType()),
                container ? null : node.getCapacity(),
                Instant.ofEpochMilli(node.getModificationTime()),
                container && node.asContainer().isSpread()));
        return;
      }
      String path = Printable.line(node.getPath());
      String shown = container ? colours.container(path) : path;
      run.print(
          isLong
              ? String.format(
                  Locale.ROOT,
                  "%-9s %10s  %s  %s",
                  NodeTypes.word(node.getType()),
                  container
                      ? node.asContainer().isSpread() ? "spread" : "-"
                      : size.apply(node.getCapacity()),
                  TIME.format(Instant.ofEpochMilli(node.getModificationTime())),
                  shown)
              : shown);
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.tool.command.Example;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import org.apache.commons.cli.CommandLine;

/** Sums the bytes of files below directories. */
public final class UseCommand extends PathCommand {
  /** Declares its options. */
  public UseCommand() {
    super(
        "du",
        "sums the bytes of files and values below paths",
        "[path...]",
        """
        It shows the sum of each child of a path, or with -s the sum of the path itself. Without a path
        it takes the root. The sums are of the bytes in files; 'crail df' shows the space that they
        take, and that of nodes that are not listed.
        """,
        flag("s", "summarize", "only the sum of each path"),
        bytesOption(),
        humanOption(),
        jsonOption());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail du /", "what each directory of the root holds"),
        new Example("crail du -sb /data", "one sum, in bytes"));
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    Adder adder = new Adder(run, line);
    List<String> paths = line.getArgList();
    for (String path : paths.isEmpty() ? List.of("/") : paths) {
      run.attempt(path, () -> adder.show(path));
    }
  }

  /** The bytes of files at and below a path. */
  public record Sum(String path, long bytes) {}

  /** How a run adds. */
  private static final class Adder {
    private final PathRun run;
    private final boolean whole;
    private final boolean json;
    private final LongFunction<String> size;

    Adder(PathRun run, CommandLine line) {
      this.run = run;
      this.json = line.hasOption("j");
      this.whole = line.hasOption("s");
      this.size = line.hasOption("b") ? String::valueOf : ByteText::of;
    }

    void show(String path) throws Exception {
      CrailNode node = run.find(path);
      if (whole || !node.getType().isContainer()) {
        print(node);
        return;
      }
      Iterator<CrailNode> each = node.asContainer().listStatus();
      while (each.hasNext()) {
        print(each.next());
      }
    }

    private void print(CrailNode node) throws Exception {
      if (json) {
        run.json(new Sum(node.getPath(), sum(node)));
        return;
      }
      run.print(
          String.format(
              Locale.ROOT, "%10s  %s", size.apply(sum(node)), Printable.line(node.getPath())));
    }

    private long sum(CrailNode node) throws Exception {
      if (!node.getType().isContainer()) {
        return node.getCapacity();
      }
      long[] sum = {0};
      run.attempt(
          node.getPath(),
          () -> {
            Iterator<CrailNode> each = node.asContainer().listStatus();
            while (each.hasNext()) {
              sum[0] += sum(each.next());
            }
          });
      return sum[0];
    }
  }
}

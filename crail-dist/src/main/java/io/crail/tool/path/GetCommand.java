/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Copies nodes to this host. */
public final class GetCommand extends PathCommand {
  /** Declares its options. */
  public GetCommand() {
    super(
        "get",
        "copies files and values of the store to this host",
        "<path>... <local>",
        """
        The last argument is a file or directory of this host, or - for the standard output. A file
        gets its name when it is complete, so an error or Ctrl-C leaves nothing that looks like one. On
        a terminal, long copies show how far they are.
        """,
        flag("f", "force", "replace files that exist already"),
        flag("r", "recursive", "also copy directories, tables and multifiles, as directories"),
        flag("q", "quiet", "do not show how far a copy is"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail get /data/part-0 .", "a file into this directory"),
        new Example("crail get -r /data copy", "a directory, as the new directory 'copy'"),
        new Example("crail get /data/part-0 - | gzip > part.gz", "through a pipe"));
  }

  @Override
  public boolean takesFiles() {
    return true;
  }

  @Override
  void check(CommandLine line) throws UsageException {
    List<String> operands = atLeast(2, "a file or directory of this host, or -", line);
    local(last(operands));
  }

  /** A path of this host. */
  static Path local(String text) throws UsageException {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new UsageException("'" + text + "' is no path of this host: " + e.getReason());
    }
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    List<String> operands = line.getArgList();
    List<String> sources = operands.subList(0, operands.size() - 1);
    boolean print = last(operands).equals("-");
    Path target = local(last(operands));
    boolean into = !print && Files.isDirectory(target);
    Download download =
        new Download(run, line.hasOption("r"), line.hasOption("f"), line.hasOption("q"));
    if (!print && !into && sources.size() > 1) {
      run.complain(
          last(operands), "has to be a directory of this host, to copy several files into it");
      return;
    }
    if (print) {
      // Nothing has to be cleaned up: Ctrl-C may end the process at once.
      for (String source : sources) {
        run.attempt(source, () -> download.print(run.find(source)));
      }
      return;
    }
    run.untilAsked(
        () -> {
          for (String source : sources) {
            run.attempt(source, () -> get(run, download, source, target, into));
          }
        });
  }

  private static void get(PathRun run, Download download, String source, Path target, boolean into)
      throws Exception {
    CrailNode node = run.find(source);
    Path above = target.toAbsolutePath().getParent();
    if (!into && above != null && !Files.isDirectory(above)) {
      throw new IOException("there is no directory " + above + " on this host; make it first");
    }
    Path place = into ? target.resolve(PathRun.name(source)) : target;
    run.takes(place.toString());
    download.get(node, place);
  }
}

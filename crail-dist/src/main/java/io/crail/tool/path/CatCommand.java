/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Prints the bytes of files. */
public final class CatCommand extends PathCommand {
  /** Declares its options. */
  public CatCommand() {
    super(
        "cat",
        "prints the bytes of files, values and multifiles",
        "<path>...",
        "The files of a multifile are printed one after the other.\n");
  }

  @Override
  public List<Example> examples() {
    return List.of(new Example("crail cat /data/part-0 | head", "the beginning of a file"));
  }

  @Override
  void check(CommandLine line) throws UsageException {
    atLeast(1, "a path", line);
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    Download download = new Download(run, false, false, true);
    for (String path : line.getArgList()) {
      run.attempt(path, () -> download.print(run.find(path)));
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import org.apache.commons.cli.CommandLine;

/** Copies files of this host to the store. */
public final class PutCommand extends PathCommand {
  /** Declares its options. */
  public PutCommand() {
    super(
        "put",
        "copies files of this host to the store",
        "<local>... <path>",
        """
        <local> is a file or directory of this host, or - for the standard input. The last argument is a
        path of the store: a new name, or a directory. In a table, a file becomes a key-value. A file
        gets its name when it is complete, so an error or Ctrl-C leaves nothing behind. On a terminal,
        long copies show how far they are.
        """,
        flag("f", "force", "replace files that exist already"),
        flag("r", "recursive", "also copy directories with all that is in them"),
        flag("q", "quiet", "do not show how far a copy is"),
        PlacementOptions.storage(),
        PlacementOptions.strict(),
        PlacementOptions.location());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail put part-0 part-1 /data", "two files into a directory"),
        new Example("crail put -r logs /logs", "a directory, as the new directory /logs"),
        new Example("gzip -dc part.gz | crail put - /data/part-0", "through a pipe"));
  }

  @Override
  public boolean takesFiles() {
    return true;
  }

  @Override
  void check(CommandLine line) throws UsageException {
    List<String> operands = atLeast(2, "the path in the store", line);
    PlacementOptions.of(line);
    for (String source : operands.subList(0, operands.size() - 1)) {
      GetCommand.local(source);
    }
    if (last(operands).equals("-")) {
      throw new UsageException("the last argument has to be a path of the store");
    }
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    List<String> operands = line.getArgList();
    List<String> sources = operands.subList(0, operands.size() - 1);
    String target = last(operands);
    Upload upload =
        new Upload(
            run,
            PlacementOptions.of(line),
            line.hasOption("r"),
            line.hasOption("f"),
            line.hasOption("q"));
    run.untilAsked(() -> run.attempt(target, () -> putAll(run, upload, sources, target)));
  }

  private static void putAll(PathRun run, Upload upload, List<String> sources, String target)
      throws Exception {
    CrailNode present = run.store().lookup(target).get();
    boolean into = present != null && present.getType().isContainer();
    if (!into && sources.size() > 1) {
      throw new IOException("has to be a directory, to put several files into it");
    }
    for (String source : sources) {
      run.attempt(source, () -> put(run, upload, source, target, into));
    }
  }

  private static void put(PathRun run, Upload upload, String source, String target, boolean into)
      throws Exception {
    if (source.equals("-")) {
      if (into) {
        throw new IOException(target + " is a directory; name the file in it");
      }
      // A channel, since an interrupt does not end the wait of a stream. It stays open.
      FileChannel in = new FileInputStream(FileDescriptor.in).getChannel();
      upload.put(in, target);
      return;
    }
    Path local = Path.of(source);
    Path name = local.toAbsolutePath().normalize().getFileName();
    String place = into && name != null ? PathRun.child(target, name.toString()) : target;
    run.takes(place);
    upload.put(local, place);
  }
}

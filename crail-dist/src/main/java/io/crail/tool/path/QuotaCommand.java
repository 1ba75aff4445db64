/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.DirectoryUsage;
import io.crail.protocol.part.NodePath;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import org.apache.commons.cli.CommandLine;

/** Sets and shows the quotas of directories. */
public final class QuotaCommand extends PathCommand {
  private static final long UNLIMITED = -1;

  private static final CompoundOperation USAGE = CompoundOperation.builder().readUsage().build();

  /** Declares its options. */
  public QuotaCommand() {
    super(
        "quota",
        "limits the bytes and names of directories, and shows what they use",
        "<path>...",
        """
        A limit is for all that is below a directory or table. What would be above it is refused. The
        first limit is set while the directory is empty; later ones at any time, also below what is
        there: then nothing is added until there is less. With 'none' all goes on being counted.
        """,
        valued("b", "bytes", "size", "the most bytes of space, such as 10g, or none"),
        valued("n", "names", "number", "the most names, or none"),
        jsonOption());
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail quota /jobs", "limits and use"),
        new Example("crail quota --bytes 10g --names 100000 /jobs", "sets both limits"),
        new Example(
            "crail quota --bytes none /jobs", "any number of bytes, as many names as before"));
  }

  /** What an option says of a limit. */
  private record Limit(boolean isGiven, long value) {
    static Limit of(CommandLine line, String letter) throws UsageException {
      return new Limit(line.hasOption(letter), limit(line, letter, letter.equals("b")));
    }

    long or(long present) {
      return isGiven ? value : present;
    }
  }

  @Override
  void check(CommandLine line) throws UsageException {
    atLeast(1, "a path", line);
    Limit.of(line, "b");
    Limit.of(line, "n");
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    Limit bytes = Limit.of(line, "b");
    Limit names = Limit.of(line, "n");
    for (String operand : line.getArgList()) {
      String path = NodePath.parse(operand).toString();
      run.attempt(
          path,
          () -> {
            if (bytes.isGiven() || names.isGiven()) {
              set(run, path, bytes, names);
            } else {
              show(run, path, line.hasOption("j"));
            }
          });
    }
  }

  /** What a directory counts for; null when there is nothing. */
  private static DirectoryUsage usage(CompoundResult result) throws Exception {
    boolean isNone = !result.isSuccess() && result.code(0) == ErrorCode.CONDITION_FAILED;
    return isNone ? null : result.orThrow().usage(0);
  }

  private static void set(PathRun run, String path, Limit bytes, Limit names) throws Exception {
    CompoundResult before = run.store().operate(path, USAGE).get();
    DirectoryUsage usage = usage(before);
    boolean isOwn = usage != null && usage.directory().equals(path);
    // The limit that stays is the one that was read.
    CompoundOperation limit =
        CompoundOperation.builder()
            .requireVersion(Comparison.EQUAL, before.version())
            .limit(
                bytes.or(isOwn ? usage.bytesLimit() : UNLIMITED),
                names.or(isOwn ? usage.namesLimit() : UNLIMITED))
            .build();
    CompoundResult after = run.store().operate(path, limit).get();
    if (after.failedStep() == 0 && after.code(0) == ErrorCode.CONDITION_FAILED) {
      throw new IOException("was changed at the same time; try again");
    }
    after.orThrow();
  }

  /**
   * The quota of a directory.
   *
   * @param path the directory
   * @param directory whose quota it is, the directory itself or one above; null for none, and then
   *     so are the others
   * @param bytes bytes of space that are used
   * @param bytesLimit the most; null for any number
   * @param names names that are used
   * @param namesLimit the most; null for any number
   */
  public record Shown(
      String path, String directory, Long bytes, Long bytesLimit, Long names, Long namesLimit) {}

  private static void show(PathRun run, String path, boolean json) throws Exception {
    DirectoryUsage usage = usage(run.store().operate(path, USAGE).get());
    if (json) {
      run.json(
          usage == null
              ? new Shown(path, null, null, null, null, null)
              : new Shown(
                  path,
                  usage.directory(),
                  usage.bytes(),
                  usage.bytesLimit() < 0 ? null : usage.bytesLimit(),
                  usage.names(),
                  usage.namesLimit() < 0 ? null : usage.namesLimit()));
      return;
    }
    run.print(Printable.line(path));
    if (usage == null) {
      run.print("  no quota");
      return;
    }
    if (!usage.directory().equals(path)) {
      run.print("  quota of     " + Printable.line(usage.directory()));
    }
    run.print("  bytes        " + text(usage.bytes(), usage.bytesLimit(), ByteText::of));
    run.print("  names        " + text(usage.names(), usage.namesLimit(), String::valueOf));
  }

  /** The quota in one line. */
  static String text(DirectoryUsage usage) {
    return text(usage.bytes(), usage.bytesLimit(), ByteText::of)
        + ", names "
        + text(usage.names(), usage.namesLimit(), String::valueOf)
        + ", of "
        + usage.directory();
  }

  private static String text(long used, long limit, LongFunction<String> unit) {
    String of = unit.apply(used);
    if (limit < 0) {
      return of + ", no limit";
    }
    return of
        + " of "
        + unit.apply(limit)
        + (limit == 0 ? "" : String.format(Locale.ROOT, " (%.0f %%)", 100.0 * used / limit));
  }
}

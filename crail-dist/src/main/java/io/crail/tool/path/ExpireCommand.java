/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.common.Printable;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.Lifetime;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.commons.cli.CommandLine;

/** Sets how long nodes live. */
public final class ExpireCommand extends PathCommand {
  private static final String AFTER = "a";
  private static final String IDLE = "i";
  private static final String NEVER = "n";
  private static final String CHILDREN = "C";

  private static final Duration LEAST = Duration.ofMillis(1);
  private static final Duration MOST = Duration.ofMillis(Lifetime.MAX_MILLIS);

  /** Declares its options. */
  public ExpireCommand() {
    super(
        "expire",
        "sets how long nodes live, or shows it",
        "<path>...",
        """
        When its time is over, a node is removed with all that is below it. Without an option, this
        shows how long each path will live. That is an access, which begins the time of a node with
        --idle again.
        """,
        valued(AFTER, "after", "time", "the node lives this long from now on, such as 90s or 60m"),
        valued(IDLE, "idle", "time", "it lives this long after each access"),
        flag(NEVER, "never", "it lives without a limit"),
        flag(
            CHILDREN,
            "children",
            "set this for each node that is made in the directory or table from now on"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail expire --after 60m /results", "the directory ends in an hour"),
        new Example(
            "crail expire --children --idle 10m /cache", "each new value lives while it is used"),
        new Example("crail expire /results", "how long it will live"));
  }

  @Override
  void check(CommandLine line) throws UsageException {
    atLeast(1, "a path", line);
    long given = Stream.of(AFTER, IDLE, NEVER).filter(line::hasOption).count();
    if (given > 1) {
      throw new UsageException("--after, --idle and --never exclude each other");
    }
    if (given == 0 && line.hasOption(CHILDREN)) {
      throw new UsageException("--children needs --after, --idle or --never");
    }
    if (given > 0) {
      lifetime(line);
    }
  }

  private static Lifetime lifetime(CommandLine line) throws UsageException {
    if (line.hasOption(NEVER)) {
      return Lifetime.UNLIMITED;
    }
    return line.hasOption(AFTER)
        ? Lifetime.of(time(line, AFTER, LEAST, MOST))
        : Lifetime.sinceAccess(time(line, IDLE, LEAST, MOST));
  }

  @Override
  void execute(PathRun run, CommandLine line) throws Exception {
    boolean sets = Stream.of(AFTER, IDLE, NEVER).anyMatch(line::hasOption);
    CompoundOperation.Builder list = CompoundOperation.builder();
    if (!sets) {
      list.readLifetime();
    } else if (line.hasOption(CHILDREN)) {
      list.expireChildren(lifetime(line));
    } else {
      list.expire(lifetime(line));
    }
    CompoundOperation steps = list.build();
    for (String path : line.getArgList()) {
      run.attempt(
          path,
          () -> {
            CompoundResult result = run.store().operate(path, steps).get().orThrow();
            if (!sets) {
              run.print(Printable.line(path) + "  " + text(result.number(0)));
            }
          });
    }
  }

  /** What a step that reads a lifetime gave, for people. */
  static String text(long millis) {
    return millis < 0 ? "never ends" : "ends in " + seconds(millis);
  }

  /** Whole seconds, or milliseconds below one. */
  static String seconds(long millis) {
    return millis < 1000 ? millis + " ms" : millis / 1000 + " s";
  }
}

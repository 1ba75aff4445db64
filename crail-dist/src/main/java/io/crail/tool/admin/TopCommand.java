/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.Display;
import io.crail.tool.report.ReportCommand;
import io.crail.tool.top.TopQuery;
import io.crail.tool.top.TopReport;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.commons.cli.CommandLine;

/** Shows what goes on in a cluster: clients, bytes, and the paths that are looked up most. */
public final class TopCommand extends ReportCommand {
  private static final int USUAL_LINES = 10;

  /** How long clients are watched for the first report. */
  private static final Duration FIRST = Duration.ofSeconds(1);

  /** Declares its options. */
  public TopCommand() {
    super(
        "top",
        "shows which clients do most, and which paths are hot",
        """
Watches for a second, or from one report to the next, what clients ask of the namenodes.
Data do not pass through a namenode. Located bytes are those whose places it has given to a
client, to read them: a client that knows the places asks no more, and one that only looks at
a file gets them, too. Written bytes are those that a client has made visible, by a sync, a
close or a put. The bytes of datanodes are those that passed through them by their last signs
of life: tier tcp only, and not what clients of a datanode's own host do in its memory; a
dash means that it does not see them. A client is one store that a process has open, by the
user that owns its files (a dash is the namenodes' own), its host, and the first digits of
its id. Lookups of a path are at least so many, by a sample of the last seconds.
""",
        bytes(),
        valued("n", "top", "number", "the most lines of a table (10)"),
        valued("g", "by", "what", "put clients together: client, user or host"),
        valued("s", "sort", "figure", "who is first: operations, located or written"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail top --watch", "what goes on, every 2 s, until Ctrl-C"),
        new Example("crail top --by user --sort written", "which users write most"),
        new Example("crail top --json --watch 10s", "a line of JSON every 10 s, for programs"));
  }

  @Override
  protected List<String> values(String option) {
    return switch (option) {
      case "--by" -> words(TopReport.By.values());
      case "--sort" -> words(TopReport.Order.values());
      default -> List.of();
    };
  }

  private static List<String> words(Enum<?>[] values) {
    return Arrays.stream(values).map(each -> each.name().toLowerCase(Locale.ROOT)).toList();
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    int most = line.hasOption("n") ? number(line, "n", 1, 1_000_000) : USUAL_LINES;
    TopReport.Manner manner =
        new TopReport.Manner(
            word(line, "by", "g", TopReport.By.CLIENT),
            word(line, "sort", "s", TopReport.Order.OPERATIONS),
            most);
    try (AdminClient cluster = AdminClient.of(context)) {
      TopQuery query = cluster.top(manner);
      return display.show(() -> query.next(FIRST));
    }
  }

  private static <E extends Enum<E>> E word(CommandLine line, String name, String option, E usual)
      throws UsageException {
    String word = line.getOptionValue(option);
    if (word == null) {
      return usual;
    }
    E[] all = usual.getDeclaringClass().getEnumConstants();
    int found = words(all).indexOf(word);
    if (found < 0) {
      throw new UsageException(
          "option --"
              + name
              + " has the bad value '"
              + word
              + "': must be one of "
              + String.join(", ", words(all)));
    }
    return all[found];
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.error.MissingNamenode;
import io.crail.spark.application.Applications;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;

/**
 * What the applications of Spark hold.
 *
 * @param applications the ones that hold most come first
 * @param others how many more there are
 * @param missing the namenodes whose parts are missing, each with the reason
 */
public record ApplicationsReport(
    List<ApplicationReport> applications, int others, List<String> missing)
    implements PartialReport {
  /** As many as a view of a whole cluster has room for. */
  public static final int MOST_IN_A_VIEW = 10;

  /** What was found. */
  public static ApplicationsReport of(Applications.Report found) {
    return new ApplicationsReport(
        found.applications().stream()
            .map(
                each ->
                    new ApplicationReport(
                        each.id(),
                        each.began(),
                        each.shuffle().files() + each.broadcast().files(),
                        each.shuffle().bytes(),
                        each.broadcast().bytes(),
                        each.renewed()))
            .sorted(Comparator.comparingLong(ApplicationReport::bytes).reversed())
            .toList(),
        0,
        found.missing().stream().map(MissingNamenode::toString).toList());
  }

  /** The same with that many applications at most. */
  public ApplicationsReport top(int most) {
    int shown = Math.min(most, applications.size());
    return new ApplicationsReport(
        applications.subList(0, shown), others + applications.size() - shown, missing);
  }

  @Override
  public void print(ReportText text) {
    TextTable table =
        new TextTable("-application", "-since", "files", "shuffle", "broadcast", "-renewed");
    for (ApplicationReport each : applications) {
      table.row(
          each.id(),
          each.began().map(Instant::toString).orElse("-"),
          each.files(),
          text.size(each.shuffleBytes()),
          text.size(each.broadcastBytes()),
          each.renewed().truncatedTo(ChronoUnit.SECONDS));
    }
    table.print(text);
    if (others > 0) {
      text.line("and %d more", others);
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.report;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * What the applications of Spark hold.
 *
 * @param applications ordered by id
 * @param missing the namenodes whose parts are missing, each with the reason
 */
public record ApplicationsReport(List<ApplicationReport> applications, List<String> missing)
    implements PartialReport {
  @Override
  public void print(ReportText text) {
    TextTable table =
        new TextTable("-application", "-since", "files", "shuffle", "broadcast", "-state");
    for (ApplicationReport each : applications) {
      table.row(
          each.id(),
          each.began().map(Instant::toString).orElse("-"),
          each.files(),
          text.size(each.shuffleBytes()),
          text.size(each.broadcastBytes()),
          each.alive()
              ? "alive"
              : "expired since " + each.leaseEnd().truncatedTo(ChronoUnit.SECONDS));
    }
    table.print(text);
  }
}

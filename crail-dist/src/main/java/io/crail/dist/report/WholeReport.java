/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.report;

import io.crail.common.Printable;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;

/**
 * All of a cluster in one view.
 *
 * @param cluster what its namenodes say
 * @param applications what the applications of Spark hold; the ones that hold most come first
 * @param missing the namenodes whose parts are missing, each with the reason
 */
public record WholeReport(
    ClusterReport cluster, List<ApplicationReport> applications, List<String> missing)
    implements PartialReport {
  /** The most applications that people see; programs see all. */
  private static final int MOST_APPLICATIONS = 10;

  /** Both reports together. */
  public static WholeReport of(ClusterReport cluster, ApplicationsReport applications) {
    List<String> missing =
        Stream.concat(cluster.missing().stream(), applications.missing().stream())
            .distinct()
            .toList();
    return new WholeReport(cluster, applications.applications(), missing);
  }

  @Override
  public void print(ReportText text) {
    text.line(
        "cluster %s at %s",
        Printable.line(cluster.cluster()), cluster.at().truncatedTo(ChronoUnit.SECONDS));
    text.line("");
    namenodes().print(text);
    text.line("");
    if (!cluster.datanodes().isEmpty()) {
      DatanodesReport.of(cluster).print(text);
      text.line("");
    }
    SpaceReport.of(cluster).print(text);
    text.line(ReportText.count(cluster.leases(), "write lease"));
    if (!applications.isEmpty()) {
      text.line("");
      new ApplicationsReport(applications, 0, List.of()).top(MOST_APPLICATIONS).print(text);
    }
  }

  private TextTable namenodes() {
    TextTable table =
        new TextTable("-namenode", "-address", "-since", "objects", "leases", "waited", "-state");
    for (NamenodeReport each : cluster.namenodes()) {
      table.row(
          each.index(),
          each.address(),
          each.started()
              .map(at -> at.truncatedTo(ChronoUnit.SECONDS))
              .map(Instant::toString)
              .orElse("-"),
          each.objects(),
          each.leases(),
          "%.1f s".formatted(each.waitedNanos() / 1e9),
          each.answers() ? "answers in " + each.micros() + " us" : "missing: " + each.problem());
    }
    return table;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.Printable;
import io.crail.common.error.MissingNamenode;
import io.crail.spark.application.Applications;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
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
  /** Both together. A namenode that neither reached is named once. */
  public static WholeReport of(ClusterReport cluster, Applications.Report found) {
    Set<Integer> silent =
        cluster.namenodes().stream()
            .filter(each -> !each.answers())
            .map(NamenodeReport::index)
            .collect(Collectors.toSet());
    List<String> missing =
        Stream.concat(
                cluster.missing().stream(),
                found.missing().stream()
                    .filter(each -> !silent.contains(each.index()))
                    .map(MissingNamenode::toString))
            .toList();
    return new WholeReport(cluster, ApplicationsReport.of(found).applications(), missing);
  }

  @Override
  public void print(ReportText text) {
    text.line(
        "cluster %s at %s",
        Printable.line(cluster.cluster()), cluster.at().truncatedTo(ChronoUnit.SECONDS));
    text.line("");
    namenodes().print(text);
    text.line("");
    if (!cluster.peers().isEmpty()) {
      NamenodeReport.Peer.print(text, cluster.peers());
      text.line("");
    }
    if (!cluster.datanodes().isEmpty()) {
      DatanodesReport.of(cluster).print(text);
      text.line("");
    }
    SpaceReport.of(cluster).print(text);
    text.line(ReportText.count(cluster.leases(), "write lease"));
    if (!applications.isEmpty()) {
      text.line("");
      // Programs see all.
      ApplicationsReport all = new ApplicationsReport(applications, 0, List.of());
      all.top(ApplicationsReport.MOST_IN_A_VIEW).print(text);
    }
  }

  private TextTable namenodes() {
    TextTable table =
        new TextTable("-namenode", "-address", "-state", "-since", "nodes", "leases", "waited");
    for (NamenodeReport each : cluster.namenodes()) {
      table.row(
          each.index(),
          each.address(),
          each.answers() ? "answers in " + each.micros() + " us" : "missing: " + each.problem(),
          each.started()
              .map(at -> at.truncatedTo(ChronoUnit.SECONDS))
              .map(Instant::toString)
              .orElse("-"),
          each.objects(),
          each.leases(),
          String.format(Locale.ROOT, "%.1f s", each.waitedNanos() / 1e9));
    }
    return table;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.tool.command.ExitCode;
import io.crail.tool.report.Finding.Grade;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * Whether a cluster is healthy, in short.
 *
 * @param healthy whether nothing is broken
 * @param namenodes how many there are
 * @param answeringNamenodes how many of them answer
 * @param datanodes how many are registered
 * @param onlineDatanodes how many of them are in use and have been heard of lately
 * @param drainingDatanodes how many of them are being removed and have been heard of lately
 * @param keepingDatanodes how many of all have bytes that outlast their process
 * @param capacityBytes the space of all classes
 * @param freeBytes what of it can be given out now
 * @param peers the peers of namenodes with standbys
 * @param logs the logs of the namenodes that keep their metadata; empty if they are lost with them
 * @param problems what is wrong, warnings included
 */
public record StatusReport(
    boolean healthy,
    int namenodes,
    int answeringNamenodes,
    int datanodes,
    int onlineDatanodes,
    int drainingDatanodes,
    int keepingDatanodes,
    long capacityBytes,
    long freeBytes,
    List<NamenodeReport.Peer> peers,
    List<NamenodeReport.Log> logs,
    List<Finding> problems)
    implements CommandReport {
  /** The status of a cluster. */
  public static StatusReport of(ClusterReport cluster) {
    List<Finding> findings = ClusterChecks.of(cluster);
    return new StatusReport(
        Finding.count(findings, Grade.BROKEN) == 0,
        cluster.namenodes().size(),
        cluster.answering().size(),
        cluster.members().size(),
        cluster.onlineDatanodes(),
        cluster.drainingDatanodes(),
        (int) cluster.members().stream().filter(DatanodeReport::keeps).count(),
        cluster.capacityBytes(),
        cluster.freeBytes(),
        cluster.peers(),
        cluster.namenodes().stream().flatMap(each -> each.log().stream()).toList(),
        findings.stream().filter(each -> each.grade() != Grade.OK).toList());
  }

  @Override
  public void print(ReportText text) {
    text.line(
        "%s: %d of %d namenodes answer, %s, %s of %s free",
        text.colours().state(healthy ? "healthy" : "unhealthy"),
        answeringNamenodes,
        namenodes,
        ClusterReport.datanodes(onlineDatanodes, drainingDatanodes, datanodes),
        text.size(freeBytes),
        text.size(capacityBytes));
    if (!peers.isEmpty()) {
      NamenodeReport.Peer.print(text, peers);
    }
    if (!logs.isEmpty()) {
      text.line(
          "metadata are on disks: %s of log, and a snapshot of %s",
          text.size(logs.stream().mapToLong(NamenodeReport.Log::bytes).sum()),
          logs.stream()
              .flatMap(each -> each.snapshot().stream())
              .min(Instant::compareTo)
              .map(at -> at.truncatedTo(ChronoUnit.SECONDS).toString())
              .orElse("a later time"));
    }
    if (keepingDatanodes > 0) {
      text.line("%d of %d datanodes keep their bytes over a restart", keepingDatanodes, datanodes);
    }
    Finding.print(text, problems);
  }

  @Override
  public int exitCode() {
    return healthy ? 0 : ExitCode.FAILURE;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.tool.report.NamenodeReport;
import io.crail.tool.report.PartialReport;
import io.crail.tool.report.ReportText;
import java.util.List;

/**
 * How the peers of namenodes with standbys stand.
 *
 * @param peers all of them, in the order of {@code crail.namenode.address}
 * @param missing the namenodes that do not answer, each with the reason
 */
public record PeersReport(List<NamenodeReport.Peer> peers, List<String> missing)
    implements PartialReport {
  @Override
  public void print(ReportText text) {
    if (peers.isEmpty() && missing.isEmpty()) {
      text.line("no namenode has standbys");
    } else {
      NamenodeReport.Peer.print(text, peers);
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.tool.report.PartialReport;
import io.crail.tool.report.ReportText;
import io.crail.tool.report.TextTable;
import java.util.List;

/**
 * How the peers of namenodes with standbys stand.
 *
 * @param peers all of them, in the order of {@code crail.namenode.address}
 * @param missing the namenodes that do not answer, each with the reason
 */
public record PeersReport(List<Peer> peers, List<String> missing) implements PartialReport {
  /**
   * A peer.
   *
   * @param namenode the index of the namenode
   * @param peer which of its peers it is, from 0
   * @param address where it is
   * @param serves whether it is the one that serves
   * @param joins whether it has lost its directories, and does not count until it has joined anew
   * @param behind entries of the log that it does not have yet; -1 if it has not been heard of
   */
  public record Peer(
      int namenode, int peer, String address, boolean serves, boolean joins, long behind) {
    /** The last entries that a peer has, and has not said yet that it has. */
    private static final int UNSAID = 3;

    private String state() {
      if (serves) {
        return "serves";
      } else if (joins) {
        return behind < 0 ? "lost its directories" : "joins anew, " + behind + " entries behind";
      } else if (behind >= 0 && behind <= UNSAID) {
        return "standby, up to date";
      }
      return behind < 0 ? "not reachable" : "standby, " + behind + " entries behind";
    }
  }

  @Override
  public void print(ReportText text) {
    if (peers.isEmpty() && missing.isEmpty()) {
      text.line("no namenode has standbys");
      return;
    }
    TextTable table = new TextTable("NAMENODE", "PEER", "ADDRESS", "STATE");
    peers.forEach(each -> table.row(each.namenode, each.peer, each.address, each.state()));
    table.print(text);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import io.crail.namenode.NameNodeServer;
import io.crail.namenode.ha.PeerStanding;
import io.crail.namenode.ha.ReplicatedNamenode;
import io.crail.protocol.cluster.Lead;
import java.util.List;
import java.util.Optional;

/**
 * The metrics of a peer of a namenode, whatever its part is. While it leads, those of a namenode
 * are among them; what only a leader knows is left out at a standby.
 */
final class PeerMetrics implements MetricsSource {
  private static final double NANOS = 1e9;
  private static final double MILLIS = 1e3;

  private final ReplicatedNamenode peer;

  PeerMetrics(ReplicatedNamenode peer) {
    this.peer = peer;
  }

  /** A standby is ready if it could take over. */
  @Override
  public Optional<String> lacks() {
    PeerStanding standing = peer.standing();
    if (standing.leading().isEmpty() && standing.leader() == Lead.NONE) {
      return Optional.of("peer " + standing.peer() + " knows no peer that leads");
    }
    return standing.counts()
        ? Optional.empty()
        : Optional.of("peer " + standing.peer() + " is joining, and does not count yet");
  }

  @Override
  public void collect(Readings readings) {
    PeerStanding standing = peer.standing();
    NameNodeServer server = peer.server();
    if (standing.leading().isPresent() && server != null) {
      new NamenodeMetrics(server).collect(readings);
    } else {
      standing.copy().ifPresent(copy -> NamenodeMetrics.collect(readings, copy));
    }
    readings.add(Metric.PEER_LEADS, standing.leading().isPresent() ? 1 : 0);
    if (standing.leader() != Lead.NONE) {
      readings.add(Metric.PEER_LEADER, standing.leader());
    }
    readings.add(Metric.PEER_TERM, standing.term());
    readings.add(Metric.PEER_ELECTIONS, standing.elections());
    if (standing.takeOverNanos() >= 0) {
      readings.add(Metric.PEER_TAKE_OVER_SECONDS, standing.takeOverNanos() / NANOS);
    }
    readings.add(Metric.PEER_RECORDS, standing.records());
    standing
        .copy()
        .ifPresent(copy -> readings.add(Metric.PEER_COPY_WAITING_BYTES, copy.waitingBytes()));
    standing.leading().ifPresent(each -> collect(readings, each));
    standing.following().ifPresent(each -> collect(readings, each));
  }

  private static void collect(Readings readings, PeerStanding.Following following) {
    if (following.behind() != Lead.UNKNOWN) {
      readings.add(Metric.STANDBY_BEHIND_ENTRIES, following.behind());
    }
    readings.add(Metric.STANDBY_SILENCE_SECONDS, following.silentNanos() / NANOS);
  }

  private static void collect(Readings readings, PeerStanding.Leading leading) {
    List<Lead.Peer> peers = leading.peers();
    for (int i = 0; i < peers.size(); i++) {
      Lead.Peer each = peers.get(i);
      String number = String.valueOf(i);
      readings.add(Metric.PEER_REACHED, each.isReached() ? 1 : 0, number);
      readings.add(Metric.PEER_JOINING, each.isJoining() ? 1 : 0, number);
      readings.add(Metric.PEER_SILENCE_SECONDS, each.silentMillis() / MILLIS, number);
      if (each.behind() != Lead.UNKNOWN) {
        readings.add(Metric.PEER_BEHIND_ENTRIES, each.behind(), number);
        readings.add(Metric.PEER_BEHIND_SECONDS, each.behindMillis() / MILLIS, number);
      }
    }
    readings.add(Metric.PEER_LEASE, leading.isLeased() ? 1 : 0);
    readings.add(Metric.PEER_ENTRIES_UNDER_WAY, leading.underWay());
    readings.add(Metric.PEER_SENT_ENTRIES, leading.sentEntries());
    readings.add(Metric.PEER_SENT_BYTES, leading.sentBytes());
  }
}

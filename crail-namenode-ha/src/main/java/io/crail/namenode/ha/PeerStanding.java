/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.namenode.LogStanding;
import io.crail.protocol.cluster.Lead;
import java.util.List;
import java.util.Optional;

/**
 * How a peer of a namenode stands, as far as it knows.
 *
 * @param namenode which of the cluster's namenodes it is a peer of
 * @param peer which of the peers it is, from 0
 * @param leader which peer leads; {@link Lead#NONE} if it knows none
 * @param term the present term
 * @param elections elections whose winner it has learned, since its start
 * @param takeOverNanos how long no peer had been serving when this one last took over, or how long
 *     it had been running if it had seen no leader; -1 if it has not served since its start
 * @param counts whether it elects others, and can be elected; not one that is joining
 * @param records the number of the last record that was agreed on, and that it has
 * @param copy its copy of the records; empty if there is none yet
 * @param leading what only the one that leads knows; empty for a standby
 * @param following what only a standby knows; empty for the one that leads
 */
public record PeerStanding(
    int namenode,
    int peer,
    int leader,
    long term,
    long elections,
    long takeOverNanos,
    boolean counts,
    long records,
    Optional<LogStanding> copy,
    Optional<Leading> leading,
    Optional<Following> following) {
  /**
   * What the one that leads knows.
   *
   * @param peers all peers, this one too
   * @param isLeased whether no other peer leads at this moment for certain
   * @param underWay entries that were sent, and are not agreed on yet
   * @param sentEntries entries that this process has sent since its start
   * @param sentBytes bytes of these
   */
  public record Leading(
      List<Lead.Peer> peers, boolean isLeased, int underWay, long sentEntries, long sentBytes) {}

  /**
   * What a standby knows.
   *
   * @param behind entries that were agreed on, as it has heard, and that it has not applied yet;
   *     {@link Lead#UNKNOWN} before it takes part
   * @param silentNanos how long ago it has heard the one that leads, or has lost it
   */
  public record Following(long behind, long silentNanos) {}
}

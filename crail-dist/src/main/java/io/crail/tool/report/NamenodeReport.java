/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.Addresses;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.cluster.Lead;
import io.crail.protocol.part.LogUsage;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A namenode. If it does not answer, everything after the problem is 0 or empty.
 *
 * @param index its place in {@code crail.namenode.address}, from 0
 * @param address where it is
 * @param answers whether it does
 * @param micros how long it takes to answer
 * @param problem why it does not answer; empty if it does
 * @param started when it was started, by its clock
 * @param successor whether the nodes of an earlier start of it are gone
 * @param requests requests that it has answered since then
 * @param requestNanos how long it has worked on all of them together
 * @param waitedNanos how long connections have waited for their turn since then, all together
 * @param locatedBytes bytes whose places it has given clients since then
 * @param committedBytes bytes that clients have made visible since then
 * @param objects its files, directories, tables and so on, without the root
 * @param leases its write leases
 * @param smallValueBytes memory outside the heap that its small values take
 * @param smallValueLimitBytes memory above which it keeps no more of them
 * @param memoryBytes heap taken by all that it keeps
 * @param memoryLimitBytes heap above which it refuses to keep more
 * @param datanodes the datanodes that are registered with it
 * @param onlineDatanodes those that it has heard of lately
 * @param log its log; empty if its metadata end with it
 * @param peers its peers if it has standbys, whether it answers or not; otherwise none
 */
public record NamenodeReport(
    int index,
    String address,
    boolean answers,
    long micros,
    String problem,
    Optional<Instant> started,
    boolean successor,
    long requests,
    long requestNanos,
    long waitedNanos,
    long locatedBytes,
    long committedBytes,
    long objects,
    int leases,
    long smallValueBytes,
    long smallValueLimitBytes,
    long memoryBytes,
    long memoryLimitBytes,
    int datanodes,
    int onlineDatanodes,
    Optional<Log> log,
    List<Peer> peers) {
  /**
   * Its log.
   *
   * @param records how many of it a start reads besides the snapshot
   * @param bytes how long these are in the log
   * @param snapshot when the snapshot was made, by the clock of the namenode; empty if there is
   *     none
   * @param refusal why no changes may be made now; empty if they may
   */
  public record Log(long records, long bytes, Optional<Instant> snapshot, String refusal) {
    /** What a namenode says. */
    static Log of(LogUsage log) {
      return new Log(
          log.records(),
          log.bytes(),
          log.snapshotMillis() == 0
              ? Optional.empty()
              : Optional.of(Instant.ofEpochMilli(log.snapshotMillis())),
          log.refusal().toString());
    }
  }

  /**
   * A peer of a namenode with standbys, as the one sees it that serves; if none does, as this host
   * sees it.
   *
   * @param namenode the index of the namenode
   * @param peer which of its peers it is, from 0
   * @param address where it is
   * @param term how often a peer was elected, all together; 0 if that is not known
   * @param serves whether it is the one that serves
   * @param answers whether it has answered lately
   * @param joins whether it has lost its directories, and does not count until it has joined anew
   * @param behind entries of the log that it does not have yet; -1 if that is not known
   * @param behindMillis how long ago the first of these was agreed on
   * @param silentMillis how long ago it has answered last; 0 if that is not known
   */
  public record Peer(
      int namenode,
      int peer,
      String address,
      long term,
      boolean serves,
      boolean answers,
      boolean joins,
      long behind,
      long behindMillis,
      long silentMillis) {
    /** The last entries that a peer has got, and has not confirmed yet. */
    private static final int UNSAID = 3;

    private static final long LATE_MILLIS = 1_000;

    /** The peers of a namenode, as the one says that serves, in their order. */
    public static List<Peer> of(
        int namenode, List<InetSocketAddress> addresses, Lead.Response answer) {
      List<Peer> peers = new ArrayList<>();
      for (int i = 0; i < addresses.size(); i++) {
        Lead.Peer peer =
            i < answer.peers().size()
                ? answer.peers().get(i)
                : new Lead.Peer(false, false, Lead.UNKNOWN, 0, 0);
        peers.add(
            new Peer(
                namenode,
                i,
                Addresses.text(addresses.get(i)),
                answer.term(),
                i == answer.peer(),
                peer.isReached(),
                peer.isJoining(),
                peer.behind(),
                peer.behindMillis(),
                peer.silentMillis()));
      }
      return peers;
    }

    /** Whether it lacks more than what is on its way. */
    public boolean isLate() {
      return behind > UNSAID && behindMillis >= LATE_MILLIS;
    }

    /** How it stands, in words. */
    public String state() {
      if (serves) {
        return "serves, in term " + term;
      } else if (joins) {
        return behind < 0 ? "lost its directories" : "joins anew, " + behind + " entries behind";
      } else if (!answers) {
        return silentMillis == 0 ? "missing" : "missing for " + seconds(silentMillis);
      } else if (behind < 0) {
        return "standby";
      }
      return isLate()
          ? "standby, " + behind + " entries and " + seconds(behindMillis) + " behind"
          : "standby, up to date";
    }

    private static String seconds(long millis) {
      return millis / 1_000 + " s";
    }

    /** Prints peers as a table. */
    public static void print(ReportText text, List<Peer> peers) {
      TextTable table = new TextTable("-namenode", "-peer", "-address", "-state");
      peers.forEach(each -> table.row(each.namenode, each.peer, each.address, each.state()));
      table.print(text);
    }

    /** Names it for people. */
    public String name() {
      return "peer " + peer + " of namenode " + namenode + " at " + address;
    }
  }

  /** Names it for people. */
  public String name() {
    return MissingNamenode.name(index, address);
  }
}

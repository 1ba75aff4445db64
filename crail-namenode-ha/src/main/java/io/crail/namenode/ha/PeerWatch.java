/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Clock;
import io.crail.namenode.StandbyNamenode;
import io.crail.protocol.cluster.Lead;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.statemachine.StateMachine;

/**
 * Knows how this peer and the others stand, for metrics and reports. What it is asked for it reads
 * without waiting for the work of the peer. Thread-safe.
 */
final class PeerWatch implements LeaderLog.Sender {
  /**
   * A peer that has not answered for so long is not reached, or longer if elections take longer.
   */
  private static final long LEAST_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final int namenode;
  private final int peer;
  private final int count;
  private final Clock clock;
  private final long longestElectionNanos;
  private final EntryTimes times = new EntryTimes();
  private final AtomicInteger elections = new AtomicInteger();

  private volatile Part part;

  /** When another peer that leads, or this one, was seen at work last. */
  private volatile long heardNanos;

  private volatile boolean isLost = true;
  private volatile long lostNanos;
  private volatile long takeOverNanos = -1;

  // Written by the thread that sends.
  private volatile long sentEntries;
  private volatile long sentBytes;

  /** What this peer is in the protocol. */
  private record Part(RaftPeers raft, StateMachine machine, IntPredicate joins, DivisionInfo info) {
    long agreed() {
      TermIndex last = machine.getLastAppliedTermIndex();
      return last == null ? 0 : last.getIndex();
    }

    /** Whether another peer is known to lead. */
    boolean follows() {
      RaftPeerId leader = info.getLeaderId();
      return leader != null && !raft.isThis(leader);
    }
  }

  /**
   * Begins to watch.
   *
   * @param namenode which namenode it is
   * @param peer which of its peers this is
   * @param count how many peers there are
   * @param election how long the one that leads may be silent, at least
   */
  PeerWatch(int namenode, int peer, int count, Clock clock, Duration election) {
    this.namenode = namenode;
    this.peer = peer;
    this.count = count;
    this.clock = clock;
    this.longestElectionNanos = 2 * election.toNanos();
    this.lostNanos = clock.nanoTime();
    this.heardNanos = lostNanos;
  }

  /**
   * This peer is about to take part in the protocol.
   *
   * @param joins whether a peer has lost its directories, and does not count yet
   */
  void takesPart(RaftPeers raft, StateMachine machine, IntPredicate joins) {
    part = new Part(raft, machine, joins, raft.division().getInfo());
  }

  /**
   * Called about every 50 ms.
   *
   * @param leads whether this peer serves
   */
  void tick(boolean leads) {
    Part present = part;
    if (present == null) {
      return;
    }
    if (leads) {
      heardNanos = clock.nanoTime();
      times.note(present.agreed(), heardNanos);
    } else if (present.follows()) {
      isLost = false;
    } else if (!isLost && present.info.getLeaderId() == null) {
      lostNanos = clock.nanoTime();
      isLost = true;
    }
  }

  /** An election has a winner. */
  void elected() {
    elections.incrementAndGet();
  }

  /** An entry was agreed on. What the next leader finds in its log is no sign of the one before. */
  void heard() {
    if (part.follows()) {
      heardNanos = clock.nanoTime();
    }
  }

  /** This peer serves from now on. */
  void serves() {
    long now = clock.nanoTime();
    times.begin(part.agreed(), now);
    // If the leader before had nothing to say, it still was silent for no longer than that.
    long silent = (isLost ? lostNanos : now) - longestElectionNanos;
    takeOverNanos = now - (heardNanos - silent < 0 ? silent : heardNanos);
    isLost = false;
  }

  @Override
  public void send(ByteBuffer entry, Consumer<Throwable> done) {
    sentEntries++;
    sentBytes += entry.remaining();
    part.raft.send(entry, done);
  }

  /**
   * How this peer stands.
   *
   * @param leading the log of this peer if it leads; else null
   * @param node has the copy; null if there is none yet
   */
  PeerStanding standing(LeaderLog leading, StandbyNamenode node) {
    Part present = part;
    RaftPeerId leader = present == null ? null : present.info.getLeaderId();
    return new PeerStanding(
        namenode,
        peer,
        leader == null ? Lead.NONE : Membership.peerOf(leader),
        present == null ? 0 : present.info.getCurrentTerm(),
        elections.get(),
        takeOverNanos,
        present != null && present.raft.isMember(),
        node == null ? 0 : node.last(),
        Optional.ofNullable(node).map(StandbyNamenode::standing),
        Optional.ofNullable(leading).map(this::leading),
        leading == null ? Optional.of(following(present)) : Optional.empty());
  }

  private PeerStanding.Leading leading(LeaderLog log) {
    return new PeerStanding.Leading(
        peers(), log.hasLease(), log.underWay(), sentEntries, sentBytes);
  }

  private PeerStanding.Following following(Part present) {
    long lost = clock.nanoTime() - lostNanos;
    if (present == null || !present.info.getLifeCycleState().isRunning()) {
      return new PeerStanding.Following(Lead.UNKNOWN, lost);
    }
    long heard = 0;
    for (CommitInfoProto each : present.raft.division().getCommitInfos()) {
      heard = Math.max(heard, each.getCommitIndex());
    }
    ServerRpcProto leader = present.info.getRoleInfoProto().getFollowerInfo().getLeaderInfo();
    return new PeerStanding.Following(
        Math.max(0, heard - present.agreed()),
        leader.hasId() ? TimeUnit.MILLISECONDS.toNanos(leader.getLastRpcElapsedTimeMs()) : lost);
  }

  /** All peers, as the one sees them that leads. If this one does not, it knows only itself. */
  List<Lead.Peer> peers() {
    Part present = part;
    List<Lead.Peer> peers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      boolean joins = i != peer && present.joins.test(i);
      peers.add(new Lead.Peer(i == peer, joins, i == peer ? 0 : Lead.UNKNOWN, 0, 0));
    }
    long[] matches = present.info.getFollowerMatchIndices();
    List<ServerRpcProto> others =
        present.info.getRoleInfoProto().getLeaderInfo().getFollowerInfoList();
    long last = present.agreed();
    for (int i = 0; matches != null && i < matches.length && i < others.size(); i++) {
      RaftPeerId id = RaftPeerId.valueOf(others.get(i).getId().getId());
      if (!present.raft.isFormer(id)) {
        int number = Membership.peerOf(id);
        boolean joins = peers.get(number).isJoining();
        peers.set(number, of(joins, last, matches[i], others.get(i).getLastRpcElapsedTimeMs()));
      }
    }
    return peers;
  }

  private Lead.Peer of(boolean joins, long last, long match, long silentMillis) {
    long most = Math.max(LEAST_SILENCE_NANOS, 2 * longestElectionNanos);
    boolean isReached = TimeUnit.MILLISECONDS.toNanos(silentMillis) < most;
    if (match < 0) {
      return new Lead.Peer(isReached, joins, Lead.UNKNOWN, 0, silentMillis);
    }
    long now = clock.nanoTime();
    long behind = Math.max(0, last - match);
    long nanos = behind == 0 ? 0 : now - times.firstAfter(match, now);
    return new Lead.Peer(
        isReached, joins, behind, TimeUnit.NANOSECONDS.toMillis(nanos), silentMillis);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.cluster.AskPeer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** This peer's server of Ratis. Thread-safe. */
final class RaftPeers implements AutoCloseable, Reconnections.Peers {

  private static final long MOVE_MILLIS = 3_000;
  private static final TimeDuration FOREVER = TimeDuration.valueOf(10_000, TimeUnit.DAYS);

  /** How many entries a joining peer may still lack when it begins to count. */
  private static final int CAUGHT_UP = 64;

  /** The pauses between attempts to send to a peer, and how many of them there are. */
  private static final String RETRIES = "1ms,10, 500ms,10000000";

  /** How long a peer that is taken in may be silent, for example while it reads its files. */
  private static final long STAGING_SECONDS = 10;

  private final RaftGroupId group;
  private final List<InetSocketAddress> addresses = new ArrayList<>();
  private final Membership own;
  private final Path directory;
  private final RaftServer server;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();
  private final TimeDuration restartPause;
  private final Reconnections reconnections;
  private volatile boolean isStarted;

  RaftPeers(
      Configuration conf,
      int index,
      Membership own,
      Path directory,
      StateMachine machine,
      PeerLimits limits,
      Clock clock)
      throws IOException {
    this.own = own;
    this.directory = directory;
    int offset = conf.get(StandbyKeys.PORT_OFFSET);
    for (InetSocketAddress each : conf.get(ClusterKeys.NAMENODE_ADDRESS).peers(index)) {
      addresses.add(
          InetSocketAddress.createUnresolved(each.getHostString(), each.getPort() + offset));
    }
    reconnections =
        new Reconnections(
            this, index, own.peer(), addresses, clock, conf.get(StandbyKeys.ELECTION));
    if (own.begun().size() > addresses.size()) {
      throw new IOException(
          own.begun().size()
              + " peers have begun, but crail.namenode.address names "
              + addresses.size());
    }
    // A server that is taken in gets to know the others from the one that leads.
    List<RaftPeer> peers = new ArrayList<>();
    for (int i = 0; i < own.begun().size(); i++) {
      peers.add(peer(own.beginsAlone() ? own.peer() : i, own.begun().get(i)));
    }
    group = RaftGroupId.valueOf(groupOf(conf, index));
    RaftProperties properties = new RaftProperties();
    RaftServerConfigKeys.setStorageDir(properties, List.of(directory.toFile()));
    GrpcConfigKeys.Server.setPort(
        properties,
        conf.get(ClusterKeys.NAMENODE_ADDRESS).peers(index).get(own.peer()).getPort() + offset);
    long election = conf.get(StandbyKeys.ELECTION).toMillis();
    TimeDuration shortest = TimeDuration.valueOf(election, TimeUnit.MILLISECONDS);
    TimeDuration longest = TimeDuration.valueOf(2 * election, TimeUnit.MILLISECONDS);
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, shortest);
    RaftServerConfigKeys.Rpc.setTimeoutMax(properties, longest);
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, shortest);
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, longest);
    // A peer on a busy host stands for election all the same: it asks before it disturbs others.
    RaftServerConfigKeys.setSleepDeviationThreshold(properties, longest);
    // One that has lost the others stands again soon: it may be the only one that has all.
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, longest.multiply(2));
    // Whoever was stopped goes on, for however long it was: its lease has ended.
    RaftServerConfigKeys.setCloseThreshold(properties, FOREVER);
    RaftServerConfigKeys.Rpc.setRequestTimeout(
        properties, TimeDuration.valueOf(1, TimeUnit.SECONDS));
    RaftServerConfigKeys.setStagingCatchupGap(properties, CAUGHT_UP);
    RaftServerConfigKeys.setStagingTimeout(
        properties, TimeDuration.valueOf(STAGING_SECONDS, TimeUnit.SECONDS));
    restartPause = Membership.hasMeta(directory) ? longest : TimeDuration.ZERO;
    // The sender's calls keep their order.
    RaftServerConfigKeys.ThreadPool.setClientCached(properties, false);
    RaftServerConfigKeys.ThreadPool.setClientSize(properties, 1);
    RaftServerConfigKeys.RetryCache.setExpiryTime(properties, TimeDuration.ONE_SECOND);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, true);
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(properties, limits.snapshotEntries());
    RaftServerConfigKeys.Snapshot.setRetentionFileNum(properties, 2);
    // Peers that are further behind than that get the files of the copy.
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
    RaftServerConfigKeys.Log.setPurgePreservationLogNum(properties, limits.keptEntries());
    RaftServerConfigKeys.Log.setPurgeGap(properties, limits.snapshotEntries());
    RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(properties, true);
    // A peer that is back after a while gets what it missed soon.
    RaftServerConfigKeys.Log.Appender.setRetryPolicy(properties, RETRIES);
    RaftServerConfigKeys.Log.setForceSyncNum(properties, TornLog.MOST_UNFORCED);
    // Else each agreement is an entry of its own, which is forced and sent as well.
    RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
    // An entry leaves at once: LeaderLog gathers what is worth an entry.
    RaftServerConfigKeys.Log.Appender.setWaitTimeMin(properties, TimeDuration.ZERO);
    RaftServerConfigKeys.Log.setSegmentSizeMax(
        properties, SizeInBytes.valueOf(limits.segmentBytes()));
    RaftServerConfigKeys.Log.setPreallocatedSize(
        properties, SizeInBytes.valueOf(limits.segmentBytes() / 4));
    TornLog.cut(directory);
    server =
        RaftServer.newBuilder()
            .setServerId(own.id())
            .setGroup(RaftGroup.valueOf(group, peers))
            .setProperties(properties)
            .setStateMachine(machine)
            .setOption(RaftStorage.StartupOption.RECOVER)
            .build();
  }

  /** Which group the peers of a namenode are. */
  static UUID groupOf(Configuration conf, int index) {
    String name = conf.get(ClusterKeys.CLUSTER_NAME) + "/" + index;
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
  }

  private RaftPeer peer(int peer, long number) {
    return RaftPeer.newBuilder()
        .setId(Membership.id(peer, number))
        .setAddress(Addresses.text(addresses.get(peer)))
        .build();
  }

  /** Whether a name is that of this peer. */
  boolean isThis(RaftPeerId id) {
    return server.getId().equals(id);
  }

  /** Whether a name is one that a peer had with a directory that it has lost. */
  boolean isFormer(RaftPeerId id) {
    int peer = Membership.peerOf(id);
    return counts(peer) && !id.equals(idOf(peer));
  }

  /**
   * Takes part. One that has taken part before waits for the longest silence first: it has
   * forgotten which leader it heard last, and must not vote while that has a lease.
   */
  void start() throws IOException {
    try {
      restartPause.sleep();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted");
    }
    try {
      server.start();
      isStarted = true;
    } catch (IOException | RuntimeException e) {
      throw new IOException("the log in " + directory + " cannot be used: " + e.getMessage(), e);
    }
  }

  /** Called about every 50 ms, by one thread. */
  void tick() {
    if (isStarted) {
      reconnections.tick();
    }
  }

  /** Whether this peer counts, as far as it knows; the others may have taken it out meanwhile. */
  boolean counts() {
    return own.id().equals(idOf(own.peer()));
  }

  /** Whether the others have agreed that this peer counts. */
  boolean isMember() {
    return isAgreed(division()) && counts();
  }

  /** Whether who counts is agreed on, and does not change at present. */
  private static boolean isAgreed(RaftServer.Division division) {
    RaftConfiguration present = division.getRaftConf();
    return present.getPreviousPeers().isEmpty()
        && division.getRaftLog().getLastCommittedIndex() >= present.getLogEntryIndex();
  }

  /** The names of those that count, or are to. */
  private Map<Integer, RaftPeer> present() {
    Map<Integer, RaftPeer> present = new HashMap<>();
    for (RaftPeer each : division().getRaftConf().getCurrentPeers()) {
      present.put(Membership.peerOf(each.getId()), each);
    }
    return present;
  }

  /** The name of a peer that counts, or is to; null if it does not. */
  private RaftPeerId idOf(int peer) {
    RaftPeer found = present().get(peer);
    return found == null ? null : found.getId();
  }

  /** Whatever its directory is. */
  @Override
  public boolean counts(int peer) {
    return idOf(peer) != null;
  }

  /**
   * How a peer stands, for the one that leads.
   *
   * @return {@link AskPeer#MEMBER} if it counts with this directory; {@link AskPeer#APART} if it
   *     does not count with any; {@link AskPeer#WAIT} otherwise, and while that changes
   */
  int standing(int peer, long number) {
    if (!isAgreed(division())) {
      return AskPeer.WAIT;
    }
    RaftPeerId asked = Membership.id(peer, number);
    if (counts(peer)) {
      return asked.equals(idOf(peer)) ? AskPeer.MEMBER : AskPeer.WAIT;
    }
    ServerRpcProto sent = sentTo(peer);
    // What is sent to a directory that was just being taken in must not reach another one.
    return sent == null || asked.equals(RaftPeerId.valueOf(sent.getId().getId()))
        ? AskPeer.APART
        : AskPeer.WAIT;
  }

  /** Whether this one, which leads, sends entries to a peer. */
  boolean sendsTo(int peer) {
    return sentTo(peer) != null;
  }

  /** To whom this one, which leads, sends entries for a peer; null if it sends none. */
  private ServerRpcProto sentTo(int peer) {
    for (ServerRpcProto each :
        division().getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList()) {
      if (Membership.peerOf(RaftPeerId.valueOf(each.getId().getId())) == peer) {
        return each;
      }
    }
    return null;
  }

  @Override
  public long silentMillis(int peer) {
    ServerRpcProto sent = sentTo(peer);
    return sent == null ? Long.MAX_VALUE : sent.getLastRpcElapsedTimeMs();
  }

  @Override
  public void reconnect(int peer) {
    RaftPeerId id = idOf(peer);
    if (id != null) {
      server.getServerRpc().handleException(id, new IOException("it was cut off"), true);
    }
  }

  /** Takes a peer out, so that it does not count any more. For the one that leads. */
  CompletableFuture<Void> takeOut(int peer) {
    List<RaftPeer> present = currentPeers();
    return change(present, others(present, peer));
  }

  /** Takes a peer in. It counts as soon as it has what the others have. */
  CompletableFuture<Void> takeIn(int peer, long number) {
    List<RaftPeer> present = currentPeers();
    List<RaftPeer> more = others(present, peer);
    more.add(peer(peer, number));
    return change(present, more);
  }

  private List<RaftPeer> currentPeers() {
    return List.copyOf(division().getRaftConf().getCurrentPeers());
  }

  private static List<RaftPeer> others(List<RaftPeer> all, int peer) {
    List<RaftPeer> others = new ArrayList<>(all);
    others.removeIf(each -> Membership.peerOf(each.getId()) == peer);
    return others;
  }

  private CompletableFuture<Void> change(List<RaftPeer> present, List<RaftPeer> peers) {
    SetConfigurationRequest.Arguments arguments =
        SetConfigurationRequest.Arguments.newBuilder()
            .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
            .setServersInCurrentConf(present)
            .setServersInNewConf(peers)
            .build();
    try {
      return server
          .setConfigurationAsync(
              new SetConfigurationRequest(
                  client, server.getId(), group, calls.incrementAndGet(), arguments))
          .thenCompose(
              reply ->
                  reply.isSuccess()
                      ? CompletableFuture.completedFuture(null)
                      : CompletableFuture.failedFuture(failure(reply)));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** The present term. */
  long term() {
    return division().getInfo().getCurrentTerm();
  }

  /** Brings an entry to the log, as the one that leads. See {@link LeaderLog.Sender}. */
  void send(ByteBuffer entry, Consumer<Throwable> done) {
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(client)
            .setServerId(server.getId())
            .setGroupId(group)
            .setCallId(calls.incrementAndGet())
            .setMessage(Message.valueOf(UnsafeByteOperations.unsafeWrap(entry)))
            .setType(RaftClientRequest.writeRequestType())
            .build();
    CompletableFuture<RaftClientReply> reply;
    try {
      reply = server.submitClientRequestAsync(request);
    } catch (IOException | RuntimeException e) {
      done.accept(e);
      return;
    }
    reply.whenComplete(
        (answer, problem) -> {
          if (problem != null) {
            done.accept(problem);
          } else {
            done.accept(answer.isSuccess() ? null : failure(answer));
          }
        });
  }

  /**
   * Has another peer lead. Returns when it does; false if it does not.
   *
   * @param peer which one, which must count; below 0 for any
   */
  boolean move(int peer) throws IOException {
    RaftClientReply reply =
        server.transferLeadership(
            new TransferLeadershipRequest(
                client, server.getId(), group, calls.incrementAndGet(), idOf(peer), MOVE_MILLIS));
    return reply.isSuccess();
  }

  /** This peer's part in the protocol. */
  RaftServer.Division division() {
    try {
      return server.getDivision(group);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Throwable failure(RaftClientReply answer) {
    return answer.getException() == null
        ? new IOException("it was not agreed on")
        : answer.getException();
  }

  @Override
  public boolean hasLeader() {
    return division().getInfo().getLeaderId() != null;
  }

  @Override
  public boolean leads() {
    return division().getInfo().isLeader();
  }

  /** Whether this peer leads in a term. */
  boolean leadsIn(long term) {
    RaftServer.Division division = division();
    return division.getInfo().isLeader() && division.getInfo().getCurrentTerm() == term;
  }

  @Override
  public void close() {
    reconnections.close();
    try {
      server.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}

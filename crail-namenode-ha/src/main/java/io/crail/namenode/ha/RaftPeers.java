/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Addresses;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** This peer's server of Ratis. Thread-safe. */
final class RaftPeers implements AutoCloseable {

  private static final long MOVE_MILLIS = 3_000;
  private static final TimeDuration FOREVER = TimeDuration.valueOf(10_000, TimeUnit.DAYS);

  private final RaftGroupId group;
  private final int count;
  private final RaftServer server;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();
  private final TimeDuration restartPause;

  RaftPeers(
      Configuration conf,
      int index,
      int peer,
      Path directory,
      StateMachine machine,
      PeerLimits limits)
      throws IOException {
    NamenodeAddresses addresses = conf.get(ClusterKeys.NAMENODE_ADDRESS);
    int offset = conf.get(StandbyKeys.PORT_OFFSET);
    List<RaftPeer> peers = new ArrayList<>();
    for (InetSocketAddress address : addresses.peers(index)) {
      peers.add(
          RaftPeer.newBuilder()
              .setId(idOf(peers.size()))
              .setAddress(Addresses.text(address.getHostString(), address.getPort() + offset))
              .build());
    }
    count = peers.size();
    String name = conf.get(ClusterKeys.CLUSTER_NAME) + "/" + index;
    group = RaftGroupId.valueOf(UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)));
    RaftProperties properties = new RaftProperties();
    RaftServerConfigKeys.setStorageDir(properties, List.of(directory.toFile()));
    GrpcConfigKeys.Server.setPort(properties, addresses.peers(index).get(peer).getPort() + offset);
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
    restartPause = Files.exists(directory) ? longest : TimeDuration.ZERO;
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
            .setServerId(RaftPeerId.valueOf(idOf(peer)))
            .setGroup(RaftGroup.valueOf(group, peers))
            .setProperties(properties)
            .setStateMachine(machine)
            .setOption(RaftStorage.StartupOption.RECOVER)
            .build();
  }

  private static String idOf(int peer) {
    return "peer-" + peer;
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
    server.start();
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
   * How many entries each peer does not have that this one has; -1 for one that is not heard of.
   */
  List<Long> behind() {
    List<Long> behind = new ArrayList<>();
    RaftServer.Division division = division();
    long last = division.getInfo().getLastAppliedIndex();
    Map<RaftPeerId, Long> known = new HashMap<>();
    for (CommitInfoProto each : division.getCommitInfos()) {
      known.put(RaftPeerId.valueOf(each.getServer().getId()), each.getCommitIndex());
    }
    for (int i = 0; i < count; i++) {
      Long index = known.get(RaftPeerId.valueOf(idOf(i)));
      behind.add(index == null || index < 0 ? -1 : Math.max(0, last - index));
    }
    return behind;
  }

  /**
   * Has another peer lead. Returns when it does; false if it does not.
   *
   * @param peer which one; below 0 for any
   */
  boolean move(int peer) throws IOException {
    RaftClientReply reply =
        server.transferLeadership(
            new TransferLeadershipRequest(
                client,
                server.getId(),
                group,
                calls.incrementAndGet(),
                peer < 0 ? null : RaftPeerId.valueOf(idOf(peer)),
                MOVE_MILLIS));
    return reply.isSuccess();
  }

  private RaftServer.Division division() {
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

  /** Whether this peer leads in a term. */
  boolean leadsIn(long term) {
    RaftServer.Division division = division();
    return division.getInfo().isLeader() && division.getInfo().getCurrentTerm() == term;
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.FileListSnapshotInfo;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;

/**
 * What Ratis drives: it hands the entries of its log to a {@link Peer}, one after the other, and
 * says when this peer begins and ends to lead. The peer's copy of the records is its snapshot:
 * those of its files that are written no more, and a small file which says how far they reach.
 */
final class PeerMachine extends BaseStateMachine {
  /** Stands for all that was before the first entry. */
  private static final TermIndex BEFORE_ALL = TermIndex.valueOf(1, 0);

  private final Peer peer;
  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private final ArrayDeque<Mark> marks = new ArrayDeque<>();
  private final int markedEntries;
  private final boolean isFirst;
  private Path files;
  private volatile SnapshotInfo sent;
  private int unmarked;
  private Mark durable;

  /** The number of the last record after an entry. */
  private record Mark(TermIndex entry, long last) {}

  /** What entries are for. */
  interface Peer {
    /** The next entry on which the peers have agreed. */
    void agreed(long term, LogEntry entry) throws IOException;

    /** An election has a winner. Called under locks of Ratis. */
    void elected();

    /** This peer leads from now on, and has seen all entries of earlier terms. */
    void leads();

    /** This peer leads no more. */
    void leadsNoMore();

    /** The number of the last record that it has. */
    long last();

    /** The number of the last record in files that are written no more. */
    long closed();

    /**
     * Puts links to all files that have records up to {@link #closed} into a directory.
     *
     * @return the links
     */
    List<Path> linkTo(Path target) throws IOException;

    /** Begins anew with such files, as another peer has sent them. */
    void install(Path source) throws IOException;

    /** This peer takes part no more, for example since its log cannot be written. */
    void ended(Throwable cause);
  }

  /**
   * Creates it.
   *
   * @param markedEntries after how many entries it is noted where the records are
   * @param isFirst whether the records that the peer has are of before the first entry
   */
  PeerMachine(Peer peer, int markedEntries, boolean isFirst) {
    this.peer = peer;
    this.markedEntries = markedEntries;
    this.isFirst = isFirst;
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage)
      throws IOException {
    super.initialize(server, group, raftStorage);
    storage.init(raftStorage);
    files = raftStorage.getStorageDir().getStateMachineDir().toPath();
    getLifeCycle().transition(LifeCycle.State.STARTING);
    reinitialize();
    getLifeCycle().transition(LifeCycle.State.RUNNING);
  }

  /** Called before files are replaced that a peer has sent. */
  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  @Override
  public void reinitialize() throws IOException {
    SingleFileSnapshotInfo latest = storage.loadLatestSnapshot();
    if (latest != null) {
      long last = ByteBuffer.wrap(Files.readAllBytes(latest.getFile().getPath())).getLong();
      if (peer.last() < last) {
        peer.install(files);
        marks.clear();
        unmarked = 0;
      }
      if (peer.last() < last) {
        throw new IOException(
            "this peer had record " + last + ", but its files end with " + peer.last());
      }
      durable = new Mark(latest.getTermIndex(), last);
      sent = sent(latest, PeerFiles.linked(files));
      setLastAppliedTermIndex(latest.getTermIndex());
    } else if (isFirst) {
      // So Ratis' log begins after it, and other peers get these records as files.
      durable = new Mark(BEFORE_ALL, peer.last());
      write(durable);
      setLastAppliedTermIndex(BEFORE_ALL);
    }
    if (getLifeCycleState() == LifeCycle.State.PAUSED) {
      getLifeCycle().transition(LifeCycle.State.STARTING);
      getLifeCycle().transition(LifeCycle.State.RUNNING);
    }
  }

  /** The files that another peer needs, and the one that says how far they reach. */
  private static SnapshotInfo sent(SingleFileSnapshotInfo mark, List<Path> linked) {
    List<FileInfo> all = new ArrayList<>();
    linked.forEach(file -> all.add(new FileInfo(file, null)));
    all.add(new FileInfo(mark.getFile().getPath(), null));
    return new FileListSnapshotInfo(all, mark.getTermIndex());
  }

  @Override
  public SnapshotInfo getLatestSnapshot() {
    return sent;
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }

  @Override
  public long takeSnapshot() throws IOException {
    Mark next = null;
    for (Mark each : marks) {
      next = isClosed(each) ? each : next;
    }
    if (next == null) {
      return RaftLog.INVALID_LOG_INDEX;
    }
    write(next);
    while (marks.peek() != next) {
      marks.poll();
    }
    durable = marks.poll();
    return next.entry.getIndex();
  }

  /** Makes the snapshot of an entry, and removes what former ones have besides. */
  private void write(Mark next) throws IOException {
    TermIndex entry = next.entry;
    List<Path> linked = peer.linkTo(files);
    File file = storage.getSnapshotFile(entry.getTerm(), entry.getIndex());
    PeerFiles.write(file.toPath(), ByteBuffer.allocate(Long.BYTES).putLong(0, next.last));
    FileInfo info = new FileInfo(file.toPath(), MD5FileUtil.computeAndSaveMd5ForFile(file));
    SingleFileSnapshotInfo mark = new SingleFileSnapshotInfo(info, entry);
    storage.updateLatestSnapshot(mark);
    sent = sent(mark, linked);
    PeerFiles.removeOthers(files, linked);
  }

  private boolean isClosed(Mark mark) {
    return mark != null && mark.last <= peer.closed();
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    try {
      ByteBuffer bytes = entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer();
      peer.agreed(entry.getTerm(), new LogEntry(bytes));
    } catch (IOException e) {
      peer.ended(e);
      return CompletableFuture.failedFuture(e);
    }
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    if (++unmarked >= markedEntries) {
      unmarked = 0;
      marks.add(new Mark(getLastAppliedTermIndex(), peer.last()));
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  @Override
  public void notifyLeaderChanged(RaftGroupMemberId self, RaftPeerId leader) {
    peer.elected();
  }

  @Override
  public void notifyLeaderReady() {
    peer.leads();
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pending) {
    peer.leadsNoMore();
  }

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto failedEntry) {
    peer.ended(cause);
  }

  @Override
  public void notifyServerShutdown(RoleInfoProto role, boolean allServer) {
    peer.ended(
        new IOException(
            "its Raft server has stopped. If this peer has since rejoined with other directories,"
                + " move these away; if it was just joining, start it again"));
  }
}

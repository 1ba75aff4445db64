/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.MD5FileUtil;

/**
 * What Ratis drives: it hands the entries of its log to a {@link Peer}, one after the other, and
 * says when this peer begins and ends to lead. The peer's copy of the records is its snapshot, so a
 * snapshot for Ratis is only a small file which says how far the copy reaches.
 */
final class PeerMachine extends BaseStateMachine {
  private static final int MARKED_ENTRIES = 1_000;

  private final Peer peer;
  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private final ArrayDeque<Mark> marks = new ArrayDeque<>();
  private int unmarked;
  private Mark durable;

  /** The number of the last record after an entry. */
  private record Mark(TermIndex entry, long last) {}

  /** What entries are for. */
  interface Peer {
    /** The next entry on which the peers have agreed. */
    void agreed(long term, LogEntry entry) throws IOException;

    /** This peer leads from now on, and has seen all entries of earlier terms. */
    void leads();

    /** This peer leads no more. */
    void leadsNoMore();

    /** The number of the last record that it has. */
    long last();

    /** The number of the last record that is on its disk. */
    long durable();

    /** This peer takes part no more, for example since its log cannot be written. */
    void ended(Throwable cause);
  }

  PeerMachine(Peer peer) {
    this.peer = peer;
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage)
      throws IOException {
    super.initialize(server, group, raftStorage);
    storage.init(raftStorage);
    reinitialize();
  }

  @Override
  public void reinitialize() throws IOException {
    SingleFileSnapshotInfo latest = storage.getLatestSnapshot();
    if (latest == null) {
      return;
    }
    byte[] bytes = Files.readAllBytes(latest.getFile().getPath());
    long last = bytes.length == Long.BYTES ? ByteBuffer.wrap(bytes).getLong() : Long.MAX_VALUE;
    if (peer.last() < last) {
      throw new IOException(
          "the log of this peer ends with record "
              + peer.last()
              + ", but it had "
              + last
              + "; without its files it must not vote: remove the other directory too");
    }
    setLastAppliedTermIndex(latest.getTermIndex());
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }

  @Override
  public long takeSnapshot() throws IOException {
    Mark before = durable;
    for (Mark next = marks.peek(); isDurable(next); next = marks.peek()) {
      durable = marks.poll();
    }
    if (durable == before) {
      return before == null ? RaftLog.INVALID_LOG_INDEX : before.entry.getIndex();
    }
    TermIndex entry = durable.entry;
    File file = storage.getSnapshotFile(entry.getTerm(), entry.getIndex());
    Files.write(file.toPath(), ByteBuffer.allocate(Long.BYTES).putLong(0, durable.last).array());
    FileInfo info = new FileInfo(file.toPath(), MD5FileUtil.computeAndSaveMd5ForFile(file));
    storage.updateLatestSnapshot(new SingleFileSnapshotInfo(info, entry));
    return entry.getIndex();
  }

  private boolean isDurable(Mark mark) {
    return mark != null && mark.last <= peer.durable();
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
    if (++unmarked >= MARKED_ENTRIES) {
      unmarked = 0;
      marks.add(new Mark(getLastAppliedTermIndex(), peer.last()));
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
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
    peer.ended(new IOException("its server of the protocol among the peers has ended"));
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.SetSize;

/**
 * A sync: waits for the writes before it, makes them durable if the store does so, and tells the
 * namenode how far the file is written.
 */
final class SyncCall extends WriteBarrier<Void> {
  private final DirectStream stream;
  private final WriteLedger writes;
  private final long id;
  private final long token;
  private final long size;

  /**
   * Creates it; {@link #begin} starts it.
   *
   * @param writes what the stream has written; all changes need the stream's monitor
   * @param id the node
   * @param token the write lease
   * @param size bytes that other clients are to see
   */
  SyncCall(DirectStream stream, WriteLedger writes, long id, long token, long size) {
    super(stream);
    this.stream = stream;
    this.writes = writes;
    this.id = id;
    this.token = token;
    this.size = size;
  }

  @Override
  void writesEnded() {
    CrailException cause = stream.bytesLost(writes);
    if (cause != null) {
      fail(cause);
    } else if (stream.unflushed() != null) {
      stream.unflushed().flush(stream.context(), durableNanos(), this::flushed);
    } else {
      flushed(null);
    }
  }

  /** Only what is durable becomes visible, where a sync makes bytes durable. */
  private void flushed(CrailException cause) {
    if (cause != null) {
      fail(cause);
    } else if (isVisible()) {
      endUnlessLost();
    } else {
      tell();
    }
  }

  /** Whether other clients see the bytes already. */
  private boolean isVisible() {
    synchronized (stream) {
      return size <= writes.visible();
    }
  }

  private void tell() {
    OperationCall<SetSize.Request, SetSize.Response> call =
        new OperationCall<>(NameNodeOperations.SET_SIZE);
    SetSize.Request request = new SetSize.Request(id, token, size, SetSize.KEEP);
    stream.context().prepare(call, request);
    call.whenComplete(() -> answered(call));
    call.submit();
  }

  private void answered(OperationCall<SetSize.Request, SetSize.Response> call) {
    CrailException cause = call.failure();
    if (cause == null) {
      synchronized (stream) {
        writes.visibleTo(size);
      }
      stream.file().info(call.response().node());
      endUnlessLost();
    } else {
      fail(cause);
    }
  }

  /** The bytes may have been visible before, and their datanode may have ended since. */
  private void endUnlessLost() {
    CrailException cause = stream.holderLost();
    if (cause == null) {
      succeed();
    } else {
      fail(cause);
    }
  }

  @Override
  public long deadlineNanos() {
    return durableNanos() + stream.context().rpcTimeoutNanos();
  }

  /** When the writes must be durable. */
  private long durableNanos() {
    long flushNanos = stream.unflushed() == null ? 0 : stream.streams().timeoutNanos(0);
    return super.deadlineNanos() + flushNanos;
  }

  @Override
  public Void result() {
    return null;
  }

  @Override
  public String toString() {
    return "sync of " + stream.file().getPath();
  }
}

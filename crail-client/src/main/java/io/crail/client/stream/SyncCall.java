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
  private final DirectOutput output;
  private final long token;
  private final long size;

  /**
   * Creates it; {@link #begin} starts it.
   *
   * @param token the write lease
   * @param size bytes that other clients are to see
   */
  SyncCall(DirectOutput output, long token, long size) {
    super(output);
    this.output = output;
    this.token = token;
    this.size = size;
  }

  @Override
  void writesEnded() {
    CrailException cause = output.bytesLost();
    if (cause != null) {
      fail(cause);
    } else if (output.unflushed() != null) {
      output.unflushed().flush(output.context(), durableNanos(), this::flushed);
    } else {
      flushed(null);
    }
  }

  /** Only what is durable becomes visible, where a sync makes bytes durable. */
  private void flushed(CrailException cause) {
    if (cause != null) {
      fail(cause);
    } else if (output.isVisible(size)) {
      endUnlessLost();
    } else {
      tell();
    }
  }

  private void tell() {
    OperationCall<SetSize.Request, SetSize.Response> call =
        new OperationCall<>(NameNodeOperations.SET_SIZE);
    SetSize.Request request = new SetSize.Request(output.id(), token, size, SetSize.KEEP);
    output.context().prepare(call, request);
    call.whenComplete(() -> answered(call));
    call.submit();
  }

  private void answered(OperationCall<SetSize.Request, SetSize.Response> call) {
    CrailException cause = call.failure();
    if (cause == null) {
      output.visible(size, call.response().node());
      endUnlessLost();
    } else {
      fail(cause);
    }
  }

  /** The bytes may have been visible before, and their datanode may have ended since. */
  private void endUnlessLost() {
    CrailException cause = output.holderLost();
    if (cause == null) {
      succeed();
    } else {
      fail(cause);
    }
  }

  @Override
  public long deadlineNanos() {
    return durableNanos() + output.context().rpcTimeoutNanos();
  }

  /** When the writes must be durable. */
  private long durableNanos() {
    long flushNanos = output.unflushed() == null ? 0 : output.streams().timeoutNanos(0);
    return super.deadlineNanos() + flushNanos;
  }

  @Override
  public Void result() {
    return null;
  }

  @Override
  public String toString() {
    return "sync of " + output.file().getPath();
  }
}

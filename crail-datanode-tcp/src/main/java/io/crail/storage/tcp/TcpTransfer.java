/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.storage.Transfer;
import java.nio.ByteBuffer;

/**
 * What an endpoint keeps with a transfer: attached to it, so that its next use finds it again. Used
 * only in the loop, once it was submitted.
 */
final class TcpTransfer implements ClientLoop.Task {
  private final Transfer transfer;
  private Window window = new Window();
  private TcpStorageEndpoint endpoint;
  private boolean write;
  private int losses;

  /** Neighbour in the endpoint's queue. */
  TcpTransfer next;

  private TcpTransfer(Transfer transfer) {
    this.transfer = transfer;
  }

  /** The state of a transfer that begins now. */
  static TcpTransfer of(Transfer transfer, TcpStorageEndpoint endpoint, boolean write) {
    TcpTransfer state =
        transfer.attachment() instanceof TcpTransfer kept ? kept : new TcpTransfer(transfer);
    transfer.attach(state);
    state.endpoint = endpoint;
    state.write = write;
    state.losses = 0;
    return state;
  }

  Transfer transfer() {
    return transfer;
  }

  /** The user's memory, through a view whose position and limit may change. */
  ByteBuffer view() {
    return transfer.view();
  }

  /** Sends the user's bytes. */
  Window window() {
    return window;
  }

  boolean isWrite() {
    return write;
  }

  /** Counts a connection that was lost under this; gives how many there were. */
  int lose() {
    if (!window.isIdle()) {
      // A channel that is being closed may hold it for a moment longer.
      window = new Window();
    }
    return ++losses;
  }

  boolean isOverdue(long nowNanos) {
    return nowNanos - transfer.deadlineNanos() >= 0;
  }

  @Override
  public void runInLoop() {
    endpoint.begin(this);
  }

  @Override
  public void rejected() {
    end(ErrorCode.CLOSED.exception("the loop of the endpoint"));
  }

  void end() {
    endpoint.loop().operationEnded();
    transfer.end();
  }

  void end(CrailException cause) {
    endpoint.loop().operationEnded();
    transfer.end(cause);
  }
}

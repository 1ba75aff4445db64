/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.storage.Transfer;

/**
 * What an endpoint keeps with a transfer: attached to it, so that its next use finds it again. Used
 * only in the loop, once it was submitted.
 */
final class RdmaTransfer implements ClientLoop.Task {
  private final Transfer transfer;
  private RdmaStorageEndpoint endpoint;
  private boolean write;
  private int losses;

  /** Neighbour in the endpoint's queue, in a batch, or among those that end together. */
  RdmaTransfer next;

  /** The registration that it uses while it is in flight, if it needs one. */
  RegistrationCache.Registration registration;

  /** Its place in its connection while it is in flight. */
  int slot;

  /** Whether it goes through its connection's own memory. */
  boolean copied;

  private RdmaTransfer(Transfer transfer) {
    this.transfer = transfer;
  }

  /** The state of a transfer that begins now. */
  static RdmaTransfer of(Transfer transfer, RdmaStorageEndpoint endpoint, boolean write) {
    RdmaTransfer state =
        transfer.attachment() instanceof RdmaTransfer kept ? kept : new RdmaTransfer(transfer);
    transfer.attach(state);
    state.endpoint = endpoint;
    state.write = write;
    state.losses = 0;
    return state;
  }

  Transfer transfer() {
    return transfer;
  }

  boolean isWrite() {
    return write;
  }

  /** Counts a connection that was lost under this; gives how many there were. */
  int lose() {
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

  /** Ends with success, or with an error unless that is null. */
  void end(CrailException cause) {
    endpoint.loop().operationEnded();
    if (cause == null) {
      transfer.end();
    } else {
      transfer.end(cause);
    }
  }
}

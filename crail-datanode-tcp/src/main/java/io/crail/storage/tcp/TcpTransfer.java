/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.rpc.netty.RetargetableBuf;
import io.crail.storage.Transfer;
import io.crail.storage.network.NetworkTransfer;
import java.nio.ByteBuffer;

/**
 * The state that an endpoint keeps with a transfer. Used only in the loop, once the transfer was
 * submitted.
 */
final class TcpTransfer extends NetworkTransfer<TcpTransfer> {
  private RetargetableBuf window = new RetargetableBuf();

  private TcpTransfer(Transfer transfer) {
    super(transfer);
  }

  /** The state of a transfer that begins now. */
  static TcpTransfer of(Transfer transfer, Owner<TcpTransfer> endpoint, boolean write) {
    TcpTransfer state =
        transfer.attachment() instanceof TcpTransfer kept ? kept : new TcpTransfer(transfer);
    state.prepare(endpoint, write);
    return state;
  }

  @Override
  protected TcpTransfer self() {
    return this;
  }

  /** The user's memory, through a view whose position and limit may change. */
  ByteBuffer view() {
    return transfer().view();
  }

  /** Sends the user's bytes. */
  RetargetableBuf window() {
    return window;
  }

  @Override
  protected void connectionLost() {
    if (!window.isIdle()) {
      // A channel that is being closed may hold the window for a moment longer.
      window = new RetargetableBuf();
    }
  }
}

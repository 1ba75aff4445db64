/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.rpc.rdma.memory.RegistrationCache;
import io.crail.storage.Transfer;
import io.crail.storage.network.NetworkTransfer;

/**
 * The state that an endpoint keeps with a transfer. Used only in the loop, once the transfer was
 * submitted.
 */
final class RdmaTransfer extends NetworkTransfer<RdmaTransfer> {
  /** The registration that it uses while it is in flight, if it needs one. */
  RegistrationCache.Registration registration;

  /** The address of its memory, unless it is {@link #copied}. */
  long address;

  /** Its slot in its connection while it is in flight. */
  int slot;

  /** Whether it goes through its connection's own memory. */
  boolean copied;

  private RdmaTransfer(Transfer transfer) {
    super(transfer);
  }

  /** The state of a transfer that begins now. */
  static RdmaTransfer of(Transfer transfer, Owner<RdmaTransfer> endpoint, boolean write) {
    RdmaTransfer state =
        transfer.attachment() instanceof RdmaTransfer kept ? kept : new RdmaTransfer(transfer);
    state.prepare(endpoint, write);
    return state;
  }

  @Override
  protected RdmaTransfer self() {
    return this;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.Controller;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.Subsystem;
import io.crail.nvmf.sector.ByteTransfer;
import io.crail.nvmf.sector.SectorAccess;
import io.crail.rpc.ClientLoop;
import io.crail.storage.Transfer;
import io.crail.storage.network.NetworkTransfer;
import java.nio.ByteBuffer;

/**
 * The state that an endpoint keeps with a transfer. Used only in the loop, once the transfer was
 * submitted.
 */
final class NvmfTransfer extends NetworkTransfer<NvmfTransfer> {
  /** Learns what becomes of the transfers. In the loop. */
  interface Listener {
    /** The device has done what a transfer asked for, or has refused it. */
    void ended(NvmfTransfer transfer, int status);

    /** The queue is lost, and it is unknown what the device has done. */
    void lost(NvmfTransfer transfer);
  }

  /** What the device does for it. */
  private final class Bytes extends ByteTransfer {
    void prepare(long position) {
      Transfer of = transfer();
      prepare(isWrite(), of.root(), of.view(), of.bufferOffset(), of.length(), position);
    }

    @Override
    protected void ended(int status) {
      listener.ended(NvmfTransfer.this, status);
    }

    @Override
    protected void lost(String cause) {
      listener.lost(NvmfTransfer.this);
    }

    @Override
    protected boolean isGivenUp() {
      // Once data were dropped, a later deadline brings them not back.
      dropped = dropped || isOverdue(loop.clock().nanoTime());
      return dropped;
    }
  }

  /** Makes durable what the namespace has. */
  private final class Flush extends NvmeRequest {
    @Override
    public void encode(ByteBuffer out, int at) {
      NvmeCommand.flush(out, at, access.namespace());
    }

    @Override
    public void ended(int status, long result) {
      listener.ended(NvmfTransfer.this, status);
    }

    @Override
    public void lost(String cause) {
      listener.lost(NvmfTransfer.this);
    }
  }

  private final Bytes bytes = new Bytes();
  private Listener listener;
  private ClientLoop loop;
  private Controller controller;
  private SectorAccess access;
  private boolean dropped;

  /** Its place among the transfers in flight; -1 while it is not. */
  private int place = -1;

  private NvmfTransfer(Transfer transfer) {
    super(transfer);
  }

  /** The state of a transfer that begins now. */
  static <E extends Owner<NvmfTransfer> & Listener> NvmfTransfer of(
      Transfer transfer, E endpoint, boolean write) {
    NvmfTransfer state =
        transfer.attachment() instanceof NvmfTransfer kept ? kept : new NvmfTransfer(transfer);
    state.listener = endpoint;
    state.loop = endpoint.loop();
    state.prepare(endpoint, write);
    return state;
  }

  @Override
  protected NvmfTransfer self() {
    return this;
  }

  /** Begins on a connection. */
  void begin(Controller newController, SectorAccess newAccess, long position) {
    controller = newController;
    access = newAccess;
    dropped = false;
    if (!isFlush()) {
      bytes.prepare(position);
    }
  }

  private boolean isFlush() {
    return transfer().length() == 0;
  }

  /** Sends commands for it; true when all were sent. */
  boolean send() {
    if (!isFlush()) {
      return access.begin(bytes);
    }
    // There is room: a transfer begins only then.
    controller.io().send(new Flush());
    return true;
  }

  void queueLost(String cause) {
    bytes.queueLost(cause);
  }

  /** Why it has failed, by the status of its command. */
  CrailException error(Subsystem subsystem, int status) {
    // Other space would not help a host that cannot send.
    boolean own = NvmeStatus.is(status, NvmeStatus.HOST_PATH_ERROR);
    return (own ? ErrorCode.LIMIT_EXCEEDED : ErrorCode.UNAVAILABLE)
        .exception(
            (isWrite() ? "write to region " : "read of region ")
                + transfer().region()
                + " at "
                + subsystem
                + ": "
                + NvmeStatus.text(status));
  }

  Controller controller() {
    return controller;
  }

  /** Its owner is about to learn of its end, so its memory must not be touched any more. */
  void drop() {
    dropped = true;
  }

  boolean isDropped() {
    return dropped;
  }

  int place() {
    return place;
  }

  void place(int newPlace) {
    place = newPlace;
  }
}

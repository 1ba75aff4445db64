/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.LoopTask;
import io.crail.storage.Transfer;

/**
 * The state that a {@link NetworkEndpoint} keeps with a transfer. It is attached to the transfer,
 * so that the next use finds it again. Used only in the loop, once it was submitted.
 *
 * @param <T> the tier's kind of transfer, the subclass itself
 */
public abstract class NetworkTransfer<T extends NetworkTransfer<T>> implements LoopTask {
  /**
   * The endpoint that transfers go through.
   *
   * @param <T> the tier's kind of transfer
   */
  public abstract static class Owner<T> {
    /** The loop. */
    public abstract ClientLoop loop();

    /** Begins a transfer. In the loop. */
    abstract void begin(T transfer);
  }

  private final Transfer transfer;
  private Owner<T> endpoint;
  private boolean write;
  private int losses;

  /** Neighbour in a queue or a list. */
  T next;

  /** Creates the state of a transfer that had none; {@link #prepare} follows. */
  protected NetworkTransfer(Transfer transfer) {
    this.transfer = transfer;
  }

  /** Sets the next use, and attaches this to its transfer. */
  protected final void prepare(Owner<T> newEndpoint, boolean isWrite) {
    transfer.attach(this);
    endpoint = newEndpoint;
    write = isWrite;
    losses = 0;
  }

  /** This. */
  protected abstract T self();

  /** The connection that this was in flight on is gone. */
  protected void connectionLost() {}

  /** The transfer. */
  public final Transfer transfer() {
    return transfer;
  }

  /** True for a write, false for a read. */
  public final boolean isWrite() {
    return write;
  }

  /** True when the deadline has passed. */
  public final boolean isOverdue(long nowNanos) {
    return nowNanos - transfer.deadlineNanos() >= 0;
  }

  /** The transfer after this in a list, or null. */
  public final T next() {
    return next;
  }

  /** Takes this out of a list; returns the transfer after it, or null. */
  public final T unlink() {
    T following = next;
    next = null;
    return following;
  }

  /** Counts a lost connection on which this was in flight; returns the count. */
  final int lose() {
    connectionLost();
    return ++losses;
  }

  @Override
  public final void runInLoop() {
    endpoint.begin(self());
  }

  @Override
  public final void rejected() {
    end(ErrorCode.CLOSED.exception("the loop of the endpoint"));
  }

  /** Ends with success. */
  public final void end() {
    endpoint.loop().operationEnded();
    transfer.end();
  }

  /** Ends with an error. */
  public final void end(CrailException cause) {
    endpoint.loop().operationEnded();
    transfer.end(cause);
  }
}

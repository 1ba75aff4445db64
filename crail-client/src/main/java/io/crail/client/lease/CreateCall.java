/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import java.util.List;

/**
 * A create or a put. Its handle may exist before the answer, and waits for the answer when it needs
 * it.
 */
public abstract class CreateCall extends RpcCall {
  private final LoopContext context;
  private final long sentNanos;
  private long incarnation;

  /**
   * Creates the call.
   *
   * @param peer the namenode of the path
   */
  public CreateCall(LoopContext context, RpcPeer peer) {
    this.context = context;
    // Never later than the true time: the lease must be taken to end too early rather than too
    // late.
    this.sentNanos = context.roughNanos();
    prepare(peer, sentNanos + context.rpcTimeoutNanos());
  }

  /** The context whose connections it uses. */
  public final LoopContext context() {
    return context;
  }

  /** The write lease that the creator gets; 0 for none. */
  protected abstract long token();

  /** Whether the creator gets the write lease. */
  public final boolean asksForLease() {
    return token() != 0;
  }

  /** When the request was sent, at the earliest; the write lease lasts from then on. */
  public final long sentNanos() {
    return sentNanos;
  }

  /** Which start of the namenode has granted the lease; once this has succeeded. */
  public final long incarnation() {
    return incarnation;
  }

  /**
   * Waits for the answer.
   *
   * @throws CrailException with the stack of the calling thread
   */
  public final void join() throws CrailException, InterruptedException {
    if (!context.loop().await(this, deadlineNanos() + Awaitable.GRACE_NANOS)) {
      throw ErrorCode.TIMED_OUT.exception(toString());
    }
    CrailException failure = failure();
    if (failure != null) {
      throw failure.rethrown();
    }
  }

  /** The node that was made, once this has succeeded. */
  public abstract NodeInfo node();

  /** The first extent of the node, if there is one, once this has succeeded. */
  public abstract List<Extent> extents();

  /** Notes which start of the namenode has answered; {@link #node} is known. */
  protected final void made() {
    incarnation = context.incarnation(node().id());
  }
}

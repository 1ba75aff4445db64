/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailNode;
import io.crail.common.error.CrailException;
import io.crail.protocol.Create;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;

/** A create; its handle may exist from the beginning and waits for the answer where it needs it. */
class CreateCall extends OperationCall<Create.Request, Create.Response>
    implements Awaitable<CrailNode> {
  private final LoopContext context;
  private final String path;
  private final long sentNanos;
  private final long token;
  private volatile long incarnation;
  private CoreNode node;

  CreateCall(LoopContext context, String path, Create.Request request) {
    super(NameNodeOperations.CREATE);
    this.context = context;
    this.path = path;
    this.sentNanos = context.nanoTime();
    this.token = request.token();
    prepare(
        context.namenodes().route(NameNodeOperations.CREATE, request),
        request,
        sentNanos + context.rpcTimeoutNanos());
  }

  /** Names the handle; before the call is submitted. */
  final void node(CoreNode newNode) {
    this.node = newNode;
  }

  final LoopContext context() {
    return context;
  }

  /** Whether the creator gets the write lease. */
  final boolean asksForLease() {
    return token != 0;
  }

  /** When the request was sent, at the earliest; the write lease lasts from then on. */
  final long sentNanos() {
    return sentNanos;
  }

  /** Which start of the namenode has granted the lease; once this has succeeded. */
  final long incarnation() {
    return incarnation;
  }

  @Override
  protected final void answered() {
    incarnation = context.incarnation(response().node().id());
  }

  @Override
  protected void completed() {
    if (asksForLease() && isFailed() && LeaseReturn.isDoubtful(failure())) {
      node.store().doubtfulCreates().add(context, path, token);
    }
  }

  @Override
  public final Completion completion() {
    return this;
  }

  @Override
  public final ClientLoop loop() {
    return context.loop();
  }

  @Override
  public final CrailNode outcome(CrailException failure) throws CrailException {
    if (failure != null) {
      throw failure;
    }
    return node;
  }

  @Override
  public final CrailNode early() {
    return node;
  }

  @Override
  public final String toString() {
    return "create " + path;
  }
}

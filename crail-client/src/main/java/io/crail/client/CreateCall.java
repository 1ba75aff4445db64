/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailNode;
import io.crail.common.error.CrailException;
import io.crail.protocol.Create;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;

/** A create; its handle exists from the beginning and waits for the answer where it needs it. */
final class CreateCall extends OperationCall<Create.Request, Create.Response>
    implements Awaitable<CrailNode> {
  private final LoopContext context;
  private final String path;
  private final long sentNanos;
  private final boolean asksForLease;
  private volatile long incarnation;
  private CoreNode node;

  CreateCall(LoopContext context, String path, Create.Request request) {
    super(NameNodeOperations.CREATE);
    this.context = context;
    this.path = path;
    this.sentNanos = context.nanoTime();
    this.asksForLease = request.token() != 0;
    prepare(
        context.namenodes().route(NameNodeOperations.CREATE, request),
        request,
        sentNanos + context.rpcTimeoutNanos());
  }

  /** Names the handle; before the call is submitted. */
  void node(CoreNode newNode) {
    this.node = newNode;
  }

  LoopContext context() {
    return context;
  }

  /** Whether the creator gets the write lease. */
  boolean asksForLease() {
    return asksForLease;
  }

  /** When the request was sent, at the earliest; the write lease lasts from then on. */
  long sentNanos() {
    return sentNanos;
  }

  /** Which start of the namenode has granted the lease; once this has succeeded. */
  long incarnation() {
    return incarnation;
  }

  @Override
  protected void answered() {
    incarnation = context.incarnation(response().node().id());
  }

  @Override
  public Completion completion() {
    return this;
  }

  @Override
  public ClientLoop loop() {
    return context.loop();
  }

  @Override
  public CrailNode outcome(CrailException failure) throws CrailException {
    if (failure != null) {
      throw failure;
    }
    return node;
  }

  @Override
  public CrailNode early() {
    return node;
  }

  @Override
  public String toString() {
    return "create " + path;
  }
}

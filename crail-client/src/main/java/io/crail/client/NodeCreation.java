/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailNode;
import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.SetSize;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;
import java.nio.ByteBuffer;

/** The create of a node of any type, and its future. */
final class NodeCreation extends CreateCall implements Awaitable<CrailNode> {
  private final String path;
  private final Create.Request request;
  private CoreNode handle;

  NodeCreation(LoopContext context, String path, Create.Request request) {
    super(
        context,
        NameNodeOperations.CREATE,
        context.namenodes().route(NameNodeOperations.CREATE, request),
        request.token());
    this.path = path;
    this.request = request;
  }

  /** Names the handle; before the call is submitted. */
  void handle(CoreNode newNode) {
    this.handle = newNode;
  }

  @Override
  protected int bodyLength() {
    return Create.Request.CODEC.length(request);
  }

  @Override
  protected void encode(ByteBuffer out, int offset) {
    Create.Request.CODEC.encode(request, out, offset);
  }

  @Override
  protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
    Create.Response response = Create.Response.CODEC.decode(in, offset, length);
    made(response.node(), response.extents());
  }

  @Override
  protected void completed() {
    if (asksForLease() && isFailed() && LeaseReturn.isDoubtful(failure())) {
      handle.store().doubtfulCreates().add(context(), path, 0, request.token(), SetSize.END);
    }
  }

  @Override
  public Completion completion() {
    return this;
  }

  @Override
  public ClientLoop loop() {
    return context().loop();
  }

  @Override
  public CrailNode outcome(CrailException failure) throws CrailException {
    if (failure != null) {
      throw failure;
    }
    return handle;
  }

  @Override
  public CrailNode early() {
    return handle;
  }

  @Override
  public String toString() {
    return "create " + path;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailNode;
import io.crail.client.lease.CreateCall;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.CoreFile;
import io.crail.client.node.CoreNode;
import io.crail.client.node.NodeHandles;
import io.crail.client.node.StoreContext;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.RoutedCall;
import io.crail.protocol.node.Create;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.SpreadPath;
import io.crail.rpc.ClientLoop;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.UnaryOperator;

/** The create of a node of any type, and its future. */
public class NodeCreation extends CreateCall implements Awaitable<CrailNode>, RoutedCall {
  private final String path;
  private Create.Request request;
  private final CoreNode handle;
  private Create.Response response;

  /**
   * Creates a call, with the handle of its node.
   *
   * @param path as the handle shows it
   */
  public NodeCreation(
      StoreContext store, LoopContext context, String path, Create.Request request) {
    super(context, context.namenodes().route(NameNodeOperations.CREATE, request));
    this.path = path;
    this.request = request;
    this.handle = NodeHandles.creating(store, path, request.type(), this, request.token());
    if (asksForLease()) {
      // Before the node can be met.
      store.leases().unused().created(((CoreFile) handle).lease());
    }
  }

  /** The create of a spread directory. A class, since a field would cost each create its bytes. */
  public static final class OfSpread extends NodeCreation {
    /** Creates a call as {@link NodeCreation} does. */
    public OfSpread(StoreContext store, LoopContext context, String path, Create.Request request) {
      super(store, context, path, request);
    }

    @Override
    Operation<Create.Request, Create.Response> operation() {
      return NameNodeOperations.CREATE_SPREAD;
    }
  }

  Operation<Create.Request, Create.Response> operation() {
    return NameNodeOperations.CREATE;
  }

  @Override
  public Utf8 path() {
    return request.path();
  }

  @Override
  public void route(UnaryOperator<Utf8> form) {
    request = request.by(form);
  }

  @Override
  protected long token() {
    return request.token();
  }

  @Override
  protected int opcode() {
    return operation().number();
  }

  @Override
  protected boolean changes() {
    return operation().changes();
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
    response = Create.Response.CODEC.decode(in, offset, length);
    if (response.node().isSpread()) {
      // Requests for its children find their way from the beginning.
      context().namenodes().routes().add(SpreadPath.text(request.path()), response.node().id());
    }
    made();
  }

  @Override
  public NodeInfo node() {
    return response.node();
  }

  @Override
  public List<Extent> extents() {
    return response.extents();
  }

  @Override
  public ClientLoop loop() {
    return context().loop();
  }

  @Override
  public CrailNode result() {
    return handle;
  }

  @Override
  public CrailNode early() {
    return handle;
  }

  @Override
  public String toString() {
    return operation() + " " + path;
  }
}

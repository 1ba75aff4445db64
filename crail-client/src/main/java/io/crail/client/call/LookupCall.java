/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailNode;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.CoreNode;
import io.crail.client.node.NodeHandles;
import io.crail.client.node.StoreContext;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.LeanLookup;
import io.crail.protocol.node.Lookup;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import java.nio.ByteBuffer;

/**
 * A lookup: request, call and future in one object, since a client issues millions of lookups a
 * second.
 */
public final class LookupCall extends LeanLookup implements Awaitable<CrailNode> {
  /**
   * How old a small value may be that the first read of its handle takes without asking the
   * namenode. This is meant for a program that looks a value up and reads it at once.
   */
  private static final long VALUE_AGE_NANOS = 1_000_000_000L;

  private final StoreContext store;
  private final LoopContext context;
  private final String name;

  // Written before the end of this call, read after it.
  private CoreNode node;

  /**
   * Creates the call.
   *
   * @param name the path as the handle shows it
   * @param path the same as it travels
   */
  public LookupCall(StoreContext store, LoopContext context, RpcPeer peer, String name, Utf8 path) {
    this.store = store;
    this.context = context;
    this.name = name;
    prepare(peer, path, context.roughNanos() + context.rpcTimeoutNanos());
  }

  @Override
  public ClientLoop loop() {
    return context.loop();
  }

  @Override
  public CrailNode result() {
    return node;
  }

  @Override
  public boolean isAbsence(CrailException failure) {
    return CoreNode.isAbsence(failure.code());
  }

  @Override
  protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
    Lookup.Response response = Lookup.Response.CODEC.decode(in, offset, length);
    long sentNanos = deadlineNanos() - context.rpcTimeoutNanos();
    long leaseNanos = context.leaseNanos(response.node().id());
    long validNanos =
        response.value().length() == 0 ? leaseNanos : Math.min(leaseNanos, VALUE_AGE_NANOS);
    // Here, so that no caller can keep a reference to the answer itself.
    node =
        NodeHandles.of(
            store,
            name,
            response.node(),
            response.extents(),
            response.value(),
            sentNanos + validNanos);
  }
}

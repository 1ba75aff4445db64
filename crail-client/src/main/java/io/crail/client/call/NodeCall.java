/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailNode;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.NodeHandles;
import io.crail.client.node.StoreContext;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCall;
import io.crail.protocol.part.NodeInfo;
import io.crail.rpc.ClientLoop;
import java.util.List;
import java.util.function.Function;

/**
 * A metadata operation whose answer describes a node.
 *
 * @param <Q> the request
 * @param <R> the response
 */
public final class NodeCall<Q, R> extends OperationCall<Q, R> implements Awaitable<CrailNode> {
  private final StoreContext store;
  private final LoopContext context;
  private final String path;
  private final String what;
  private final Function<R, NodeInfo> infoOf;
  private volatile CrailNode node;

  /**
   * Creates a call, ready to be submitted.
   *
   * @param path the path of the node afterwards
   * @param what the operation is done to, for messages
   */
  public NodeCall(
      StoreContext store,
      LoopContext context,
      Operation<Q, R> operation,
      Q request,
      String path,
      String what,
      Function<R, NodeInfo> infoOf) {
    super(operation);
    this.store = store;
    this.context = context;
    this.path = path;
    this.what = what;
    this.infoOf = infoOf;
    context.prepare(this, request);
  }

  @Override
  public ClientLoop loop() {
    return context.loop();
  }

  @Override
  public CrailNode result() {
    CrailNode made = node;
    if (made == null) {
      made = NodeHandles.of(store, path, infoOf.apply(response()), List.of(), 0);
      node = made;
    }
    return made;
  }

  @Override
  public String toString() {
    return operation() + " " + what;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailNode;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCall;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;
import java.util.function.Function;

/**
 * A metadata operation whose answer becomes a node.
 *
 * @param <Q> the request
 * @param <R> the response
 */
public class NodeCall<Q, R> extends OperationCall<Q, R> implements Awaitable<CrailNode> {
  private final LoopContext context;
  private final String path;
  private final Function<R, CrailNode> toNode;
  private volatile CrailNode node;

  public NodeCall(
      LoopContext context, Operation<Q, R> operation, String path, Function<R, CrailNode> toNode) {
    super(operation);
    this.context = context;
    this.path = path;
    this.toNode = toNode;
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
    CrailNode made = node;
    if (made == null) {
      made = toNode.apply(response());
      node = made;
    }
    return made;
  }

  @Override
  public final String toString() {
    return operation() + " " + path;
  }
}

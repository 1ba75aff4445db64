/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.SpreadPath;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import java.nio.ByteBuffer;
import java.util.function.UnaryOperator;

/**
 * A lookup that needs no object for its request. The subclass decides what happens to the answer.
 */
public abstract class LeanLookup extends RpcCall implements RoutedCall {
  private Utf8 path;

  /**
   * Makes it ready to be submitted; before each use.
   *
   * @param namenode the namenode to ask
   * @param newPath the path as it travels
   * @param deadlineNanos when it fails, by the clock of the namenode's loop
   */
  protected final void prepare(RpcPeer namenode, Utf8 newPath, long deadlineNanos) {
    this.path = newPath;
    prepare(namenode, deadlineNanos);
  }

  @Override
  public final Utf8 path() {
    return path;
  }

  @Override
  public final void route(UnaryOperator<Utf8> form) {
    path = form.apply(path);
  }

  @Override
  protected final int opcode() {
    return NameNodeOperations.LOOKUP.number();
  }

  @Override
  protected final boolean changes() {
    return NameNodeOperations.LOOKUP.changes();
  }

  @Override
  protected final int bodyLength() {
    return Lookup.Request.lengthFor(path);
  }

  @Override
  protected final void encode(ByteBuffer out, int offset) {
    Lookup.Request.encodePath(path, out, offset);
  }

  @Override
  public final String toString() {
    return "lookup " + SpreadPath.text(path);
  }
}

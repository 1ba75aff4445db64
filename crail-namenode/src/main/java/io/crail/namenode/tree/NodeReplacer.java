/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.WriteLease;
import io.crail.protocol.node.SetSize;
import java.util.function.LongConsumer;

/**
 * Lets nodes of puts take the place of those that they are to replace: in one step, with the
 * request of the writer that makes the value whole. Thread-safe.
 */
public final class NodeReplacer {
  private final Tree tree;
  private final NodeWriter writer;

  public NodeReplacer(Tree tree, NodeWriter writer) {
    this.tree = tree;
    this.writer = writer;
  }

  /**
   * Makes bytes visible as {@link NodeWriter#setSize} does, and the node of a whole value with
   * them. The node of a put that ends before its value is whole is destroyed.
   *
   * @param named the node of the writer. A client that got no answer to its put knows only the path
   *     and the token, so this may also be the node that is to be replaced
   * @param committed gets the number of bytes that were committed
   * @return the node of the writer
   */
  public Node setSize(Node named, SetSize.Request request, LongConsumer committed)
      throws CrailException {
    Node node = ofToken(named, request.token());
    Node loser = null;
    boolean done = false;
    while (!done && node.isComing()) {
      Container parent = node.parent();
      synchronized (parent) {
        // After a rename of the other node this one has the name, and may have been renamed itself.
        if (node.isComing()) {
          loser = setSize(node, parent, request, committed);
          done = true;
        }
      }
    }
    if (!done) {
      committed.accept(writer.setSize(node, request));
    } else if (loser != null) {
      tree.destroy(loser);
    }
    return node;
  }

  /** Returns the node that has to be destroyed, or null. Under the parent's monitor. */
  private Node setSize(Node node, Container parent, SetSize.Request request, LongConsumer committed)
      throws CrailException {
    Node present = tree.names().namesake(node);
    if (present == null || tree.coming().of(present) != node) {
      // A later put or a removal came before.
      writer.farewell(node, request);
      throw ErrorCode.STALE_NODE.exception("node " + node.id());
    }
    // So that its lease does not run out in between, which takes its bytes away.
    synchronized (node) {
      writer.setSize(node, request);
      if (tree.coming().isWhole(present)) {
        // Only now are they visible.
        committed.accept(node.size());
        node.arrived();
        if (tree.coming().remove(present) != node) {
          throw new AssertionError("another node is to replace " + present);
        }
        tree.replace(present, node, parent);
        // Last, so that a second request of the writer is not answered before.
        node.coming(false);
        return present;
      }
    }
    return request.close() == SetSize.END ? tree.giveUp(present) : null;
  }

  /** The node that is to replace {@code named} if the token is that of its lease; or the same. */
  private Node ofToken(Node named, long token) {
    Node coming = tree.coming().of(named);
    if (coming == null) {
      return named;
    }
    synchronized (coming) {
      WriteLease<Node> lease = coming.lease();
      return lease != null && lease.token() == token ? coming : named;
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.part.NodeInfo;
import io.crail.rpc.login.Caller;

/** Decides removals. What is below a removed container is taken apart later. Thread-safe. */
public final class RemoveRule {
  // A removal takes apart this many nodes itself, so that small subtrees are gone at once.
  private static final int TAKEN_APART_AT_ONCE = 256;

  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final Dismantler dismantler;
  private final Clock clock;

  public RemoveRule(Tree tree, Locks locks, Applier applier, Dismantler dismantler, Clock clock) {
    this.tree = tree;
    this.locks = locks;
    this.applier = applier;
    this.dismantler = dismantler;
    this.clock = clock;
  }

  /**
   * Removes a node, and with {@code recursive} all that is below it.
   *
   * @param id the node that has to be at the path; 0 for any
   * @param caller who asks
   */
  public NodeInfo remove(Utf8 pathText, boolean recursive, long id, Caller caller)
      throws CrailException {
    PathBytes path = PathBytes.of(pathText);
    tree.requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    NodeInfo info = null;
    Node node = null;
    while (info == null) {
      Tree.Place place = tree.locate(path);
      if (place.child() == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(path.toString());
      }
      if (id != 0 && place.child().id() != id) {
        throw ErrorCode.STALE_NODE.exception(path.toString());
      }
      Node child = place.child();
      info =
          locks.ofChild(
              place.container(),
              child,
              () -> tree.isStill(child, place.container(), path),
              () -> decide(child, path, recursive));
      node = child;
    }
    if (info.childCount() > 0) {
      dismantler.add((Container) node);
      dismantler.run(TAKEN_APART_AT_ONCE);
    }
    return info;
  }

  private NodeInfo decide(Node node, PathBytes path, boolean recursive) throws CrailException {
    NodeInfo info = node.info();
    long now = clock.currentTimeMillis();
    if (!(node instanceof Container container)) {
      applier.remove(node, now);
    } else if (container.childCount() == 0) {
      applier.removeContainer(container, now);
    } else if (recursive) {
      locks.withoutRenames(
          () -> {
            applier.removeContainer(container, now);
            return null;
          });
    } else {
      throw ErrorCode.NOT_EMPTY.exception(path.toString());
    }
    return info;
  }
}

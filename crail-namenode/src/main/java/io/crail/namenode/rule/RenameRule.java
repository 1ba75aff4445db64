/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.rpc.login.Caller;

/** Decides which nodes get other names and parents, as {@link Tree} says. Thread-safe. */
public final class RenameRule {
  private final Tree tree;
  private final HeapBudget budget;
  private final Locks locks;
  private final Applier applier;
  private final Clock clock;

  public RenameRule(State state, Locks locks, Applier applier, Clock clock) {
    this.tree = state.tree();
    this.budget = state.budget();
    this.locks = locks;
    this.applier = applier;
    this.clock = clock;
  }

  /**
   * Gives a node another name, and perhaps another parent.
   *
   * @param replace whether it replaces the node at the target: a node with bytes replaces another,
   *     and a container replaces an empty one of its type
   * @param caller who asks
   */
  public NodeInfo rename(Utf8 sourceText, Utf8 targetText, boolean replace, Caller caller)
      throws CrailException {
    PathBytes source = PathBytes.of(sourceText);
    PathBytes target = PathBytes.of(targetText);
    tree.requireOwn(source);
    if (source.isRoot() || target.isRoot()) {
      throw ErrorCode.ROOT.exception("rename " + source + " to " + target);
    }
    tree.requireOneNamenode(source, target);
    NodeInfo info = null;
    while (info == null) {
      Tree.Place from = tree.locateBeside(source);
      Tree.Place to = tree.locateBeside(target);
      if (from.child() == null || !(to.parent() instanceof Container)) {
        // What is missing here is not looked for again under the locks.
        from = tree.locate(source);
        to = tree.locate(target);
      }
      info = renameFound(from, source, to, target, replace);
    }
    return info;
  }

  /** Returns null when something has changed since it was found. */
  private NodeInfo renameFound(
      Tree.Place from, PathBytes source, Tree.Place to, PathBytes target, boolean replace)
      throws CrailException {
    Node node = from.child();
    if (node == null) {
      throw tree.absent(source, ErrorCode.NODE_NOT_FOUND);
    }
    Container parent = tree.requireContainer(to.parent(), target);
    // A container that is replaced has to stay empty, so its lock is taken too.
    Container third = replace && to.child() instanceof Container old ? old : parent;
    // So has one that comes to another quota, so that nothing below it counts there.
    boolean isKeptEmpty = node instanceof Container && from.container().quota() != parent.quota();
    Container fourth = isKeptEmpty ? (Container) node : parent;
    return locks.of(
        () -> {
          boolean isStill =
              tree.isStill(node, from.container(), source)
                  && !tree.isDetached(parent)
                  && tree.child(parent, target) == to.child()
                  && (isKeptEmpty
                      || Tree.isWithBytes(node)
                      || from.container().quota() == parent.quota());
          NodeInfo info =
              isStill
                  ? locks.ofRename(
                      node instanceof Container, () -> decide(node, source, to, target, replace))
                  : null;
          if (info != null && to.child() != null) {
            applier.end(to.child());
          }
          return info;
        },
        from.container(),
        parent,
        third,
        fourth);
  }

  /** Returns null when a place was moved or removed since it was found. */
  private NodeInfo decide(
      Node node, PathBytes source, Tree.Place to, PathBytes target, boolean replace)
      throws CrailException {
    // From here on, no container that is not empty is removed.
    if (Tree.reachesRemoved(node) || Tree.reachesRemoved(to.container())) {
      return null;
    }
    requireRename(node, source, to, target, replace);
    tree.requireOpen(to.container());
    return isReachable(node, source, to.container(), target)
        ? rename(node, source, to.container(), target, to.child())
        : null;
  }

  /** Refuses a rename that is not allowed. Under the locks. */
  private void requireRename(
      Node node, PathBytes source, Tree.Place to, PathBytes target, boolean replace)
      throws CrailException {
    if (node instanceof Container && !tree.spread().in(node).isEmpty()) {
      throw ErrorCode.CROSS_NAMENODE.exception(
          source + " is spread over the namenodes, or a directory below it is");
    }
    for (Node at = to.container(); at != null; at = at.parent()) {
      if (at == node) {
        throw ErrorCode.CYCLE.exception(source + " to " + target);
      }
    }
    if (!to.container().type().mayHold(node.type())) {
      throw ErrorCode.WRONG_TYPE.exception(
          target + ": no " + node.type() + " in a " + to.container().type());
    }
    Node old = to.child();
    if (old != null) {
      boolean alike =
          Tree.isWithBytes(node) ? Tree.isWithBytes(old) : node.typeNumber() == old.typeNumber();
      if (!replace || !alike || node == old || old.isSpread()) {
        throw ErrorCode.NODE_EXISTS.exception(target.toString());
      }
      if (old.childCount() > 0) {
        throw ErrorCode.NOT_EMPTY.exception(target.toString());
      }
      if (old instanceof Container container && container.hasOwnQuota()) {
        throw ErrorCode.NODE_EXISTS.exception(target + ", which has limits of its own");
      }
    }
    requireQuota(node, source, to.container(), target);
  }

  /**
   * Refuses to move a container with children, or with a quota of its own, to what counts for
   * another quota, since nothing counts a whole subtree. It is no QUOTA_EXCEEDED: more room would
   * not help.
   */
  private void requireQuota(Node node, PathBytes source, Container to, PathBytes target)
      throws CrailException {
    if (node instanceof Container container
        && Container.quotaOf(node) != to.quota()
        && (!tree.pending().isEmpty(container) || container.hasOwnQuota())) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          source
              + " to "
              + target
              + ": a directory that is not empty, or has a quota of its own, stays below the same"
              + " quota; make another one there and move what is in it");
    }
  }

  /**
   * True when all paths will be short enough; then the containers of the new place have noted the
   * new lengths. False when that place was moved, so that even the node's own path is too long.
   *
   * @throws CrailException when a path below the node would become too long
   */
  private static boolean isReachable(Node node, PathBytes source, Container to, PathBytes target)
      throws CrailException {
    int own = 1 + target.nameLength();
    int below = node.reach();
    int length = pathLength(to) + own;
    if (length > NodePath.MAX_LENGTH) {
      return false;
    }
    boolean longer = length > pathLength(node.parent()) + 1 + node.nameLength();
    if (longer && length + below > NodePath.MAX_LENGTH) {
      throw ErrorCode.INVALID_PATH.exception(
          "paths below have up to "
              + below
              + " bytes more, which is more than "
              + NodePath.MAX_LENGTH
              + ": "
              + source
              + " to "
              + target);
    }
    Tree.extendReach(to, own + below);
    return true;
  }

  private NodeInfo rename(Node node, PathBytes source, Container to, PathBytes target, Node old)
      throws CrailException {
    long more = Node.footprint(node.type(), target.nameLength()) - node.footprint();
    if (more > 0) {
      budget.require(more, 0, target);
    }
    try {
      if (Container.quotaOf(node) == to.quota()) {
        apply(node, source, to, target, old);
      } else {
        // So that it gets no space meanwhile.
        locks.of(node, () -> apply(node, source, to, target, old));
      }
    } catch (CrailException e) {
      budget.give(Math.max(0, more));
      throw e;
    }
    budget.give(Math.max(0, -more));
    return node.info();
  }

  private Void apply(Node node, PathBytes source, Container to, PathBytes target, Node old)
      throws CrailException {
    // A value that is being put under the present name belongs there.
    Node heir = tree.pending().of(node);
    if (heir == null) {
      moveQuota(node, to, target, old, null);
      applier.rename(node, source, to, target, old, null, clock.currentTimeMillis());
      return null;
    }
    // So that the end of its lease does not take bytes away that can be found.
    return locks.of(
        heir,
        () -> {
          // If its writer is gone, the present name would lead to nothing.
          boolean isGivenUp = isGivenUp(heir);
          moveQuota(node, to, target, old, isGivenUp ? null : heir);
          long now = clock.currentTimeMillis();
          if (isGivenUp) {
            applier.dropPending(node, now);
          }
          applier.rename(node, source, to, target, old, isGivenUp ? null : heir, now);
          return null;
        });
  }

  /**
   * Moves what a node has of quotas. The name of the node that it replaces becomes its own; what
   * that node has besides is given back at its end.
   */
  private static void moveQuota(Node node, Container to, PathBytes target, Node old, Node heir)
      throws CrailException {
    Quota from = Container.quotaOf(node);
    Quota next = to.quota();
    if (from == null && next == null) {
      return;
    }
    long bytes = from == next ? 0 : Quota.bytesOf(node.space());
    Quota.Refusal refusal =
        Quota.move(from, next, bytes, old == null ? 1 : 0, heir == null ? 1 : 0);
    if (refusal != null) {
      throw refusal.of(target);
    }
  }

  /** True when no writer of a node can go on. Under its monitor. */
  private static boolean isGivenUp(Node node) {
    WriteLease<Node> lease = node.lease();
    return lease == null || lease.isEnding();
  }

  /** Bytes of a container's path, without the slash of the root. */
  private static int pathLength(Node container) {
    int length = 0;
    Node at = container;
    while (at.parent() != null) {
      length += 1 + at.nameLength();
      at = at.parent();
    }
    return length + at.topLength();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.name.PathBytes;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import java.util.Arrays;

/** Gives nodes other names and parents, as {@link Tree} says. Thread-safe. */
public final class NodeRenamer {
  private final Tree tree;
  private final Clock clock;

  public NodeRenamer(Tree tree, Clock clock) {
    this.tree = tree;
    this.clock = clock;
  }

  /**
   * Gives a node another name, and perhaps another parent.
   *
   * @param replace whether it replaces the node at the target: a node with bytes replaces another,
   *     and a container replaces an empty one of its type
   */
  public NodeInfo rename(Utf8 sourceText, Utf8 targetText, boolean replace) throws CrailException {
    PathBytes source = PathBytes.of(sourceText);
    PathBytes target = PathBytes.of(targetText);
    tree.requireOwn(source);
    if (source.isRoot() || target.isRoot()) {
      throw ErrorCode.ROOT.exception("rename " + source + " to " + target);
    }
    tree.requireOneNamenode(source, target);
    while (true) {
      Tree.Place from = tree.locateBeside(source);
      Tree.Place to = tree.locateBeside(target);
      if (from.child() == null || !(to.parent() instanceof Container)) {
        // What is missing here is not looked for again under the locks.
        from = tree.locate(source);
        to = tree.locate(target);
      }
      if (from.child() == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(source.toString());
      }
      Tree.requireContainer(to.parent(), target);
      NodeInfo info = rename(from, source, to, target, replace);
      if (info != null) {
        if (to.child() != null && Tree.isWithBytes(to.child())) {
          tree.destroy(to.child());
        }
        return info;
      }
    }
  }

  /** Renames under the locks; null when something has changed since it was found. */
  private NodeInfo rename(
      Tree.Place from, PathBytes source, Tree.Place to, PathBytes target, boolean replace)
      throws CrailException {
    // A container that is replaced has to stay empty, so its lock is taken too.
    Container third =
        replace && to.child() instanceof Container ? (Container) to.child() : to.container();
    Container[] locks = {from.container(), to.container(), third};
    Arrays.sort(locks, (a, b) -> Long.compareUnsigned(a.id(), b.id()));
    synchronized (locks[0]) {
      synchronized (locks[1]) {
        synchronized (locks[2]) {
          if (!tree.isStill(from.child(), from.container(), source)
              || tree.isDetached(to.container())
              || tree.child(to.container(), target) != to.child()) {
            return null;
          }
          Node coming = tree.coming().of(from.child());
          if (coming != null && isGivenUp(coming)) {
            // Its writer is gone, so that the old name would lead to nothing.
            tree.destroy(tree.giveUp(from.child()));
          }
          RenameSequence.Change<NodeInfo> change =
              () -> {
                requireRename(from.child(), source, to, target, replace);
                return isReachable(from.child(), source, to.container(), target)
                    ? move(from.child(), source, from.container(), to, target)
                    : null;
              };
          return from.child() instanceof Container
              ? tree.renames().runAlone(change)
              : tree.renames().runBeside(change);
        }
      }
    }
  }

  /** Refuses a rename that is not allowed. Under the locks, within the sequence. */
  private void requireRename(
      Node node, PathBytes source, Tree.Place to, PathBytes target, boolean replace)
      throws CrailException {
    for (Container at = to.container(); at != null; at = at.parent()) {
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
      if (!replace || !alike || node == old) {
        throw ErrorCode.NODE_EXISTS.exception(target.toString());
      }
      if (old.childCount() > 0) {
        throw ErrorCode.NOT_EMPTY.exception(target.toString());
      }
    }
  }

  /**
   * True when all paths will be short enough; then the containers of the new place have noted the
   * new lengths. False when that place was moved, so that even the node's own path is too long.
   * Within the sequence.
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

  /**
   * Moves a node to its new place, and replaces the node that is there. Under the locks, within the
   * sequence.
   */
  private NodeInfo move(
      Node node, PathBytes source, Container from, Tree.Place place, PathBytes target)
      throws CrailException {
    tree.chargeName(node, target);
    Container to = place.container();
    Node old = place.child();
    long now = clock.currentTimeMillis();
    boolean stays = from == to && old == null;
    // A value that is being put under the old name belongs there. Added before the node is removed,
    // so that the container is never empty.
    boolean keepsName = leaveName(node, source);
    if (!stays) {
      from.remove(node, now);
    }
    // It takes the old node's place in the order, so that a listing shows each name once.
    long sequence =
        old != null ? old.sequence() : stays ? node.sequence() : to.children().nextSequence();
    if (!keepsName) {
      tree.names().remove(node);
    }
    node.place(to, target.bytes(), target.nameStart(), target.end(), sequence);
    if (old == null) {
      tree.names().add(node);
    } else {
      tree.names().replace(old, node);
    }
    if (old != null) {
      to.replace(old, node, now);
      old.markRemoved();
      tree.drop(old);
    } else if (stays) {
      to.touch(now);
    } else {
      to.add(node, now);
    }
    return node.info();
  }

  /**
   * Gives the name of a node that is being renamed to the node that was to replace it. Under the
   * locks, within the sequence.
   *
   * @return false when there is none
   */
  private boolean leaveName(Node present, PathBytes path) {
    Node node = tree.coming().remove(present);
    if (node == null) {
      return false;
    }
    Container parent = present.parent();
    long sequence = parent.children().nextSequence();
    // So that the end of its lease does not take bytes away that can be found.
    synchronized (node) {
      node.place(parent, path.bytes(), path.nameStart(), path.end(), sequence);
      tree.names().replace(present, node);
      parent.add(node, node.modifiedMillis());
      node.coming(false);
    }
    return true;
  }

  /** True when no writer of a node can go on. */
  private static boolean isGivenUp(Node node) {
    synchronized (node) {
      WriteLease<Node> lease = node.lease();
      return lease == null || lease.isEnding();
    }
  }

  /** Bytes of a container's path, without the slash of the root. */
  private static int pathLength(Container container) {
    int length = 0;
    for (Container at = container; at.parent() != null; at = at.parent()) {
      length += 1 + at.nameLength();
    }
    return length;
  }
}

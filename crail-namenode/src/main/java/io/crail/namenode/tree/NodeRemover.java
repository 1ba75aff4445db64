/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.name.PathBytes;
import io.crail.protocol.part.NodeInfo;

/** Removes nodes. The nodes below a removed container are taken apart later. Thread-safe. */
public final class NodeRemover {
  // A removal takes apart this many nodes itself, so that small subtrees are gone at once.
  private static final int DISMANTLED_AT_ONCE = 256;

  private final Tree tree;
  private final Dismantler dismantler;

  public NodeRemover(Tree tree) {
    this.tree = tree;
    this.dismantler = new Dismantler(tree);
  }

  /**
   * Removes a node, and with {@code recursive} all that lies below it.
   *
   * @param id the node that has to be at the path; 0 for any
   */
  public NodeInfo remove(Utf8 pathText, boolean recursive, long id) throws CrailException {
    PathBytes path = PathBytes.of(pathText);
    tree.requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    while (true) {
      Tree.Place place = tree.locate(path);
      if (place.child() == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(path.toString());
      }
      if (id != 0 && place.child().id() != id) {
        throw ErrorCode.STALE_NODE.exception(path.toString());
      }
      NodeInfo info =
          place.child() instanceof Container
              ? remove(place, (Container) place.child(), path, recursive)
              : remove(place, path);
      if (info != null) {
        return info;
      }
    }
  }

  /** Removes a node with bytes; null when it is no longer where it was found. */
  private NodeInfo remove(Tree.Place place, PathBytes path) {
    Node node = place.child();
    synchronized (place.container()) {
      if (!tree.isStill(node, place.container(), path)) {
        return null;
      }
      tree.unlink(node, place.container());
    }
    NodeInfo info = node.info();
    tree.destroy(node);
    return info;
  }

  /** Removes a container; null when it is no longer where it was found. */
  private NodeInfo remove(Tree.Place place, Container container, PathBytes path, boolean recursive)
      throws CrailException {
    NodeInfo info;
    Container parent = place.container();
    boolean parentFirst = Long.compareUnsigned(parent.id(), container.id()) < 0;
    synchronized (parentFirst ? parent : container) {
      synchronized (parentFirst ? container : parent) {
        if (!tree.isStill(container, parent, path)) {
          return null;
        }
        if (container.childCount() > 0 && !recursive) {
          throw ErrorCode.NOT_EMPTY.exception(path.toString());
        }
        info = container.info();
        container.markRemoved();
        tree.unlink(container, parent);
      }
    }
    if (info.childCount() > 0) {
      dismantler.add(container);
      dismantle(DISMANTLED_AT_ONCE);
    }
    return info;
  }

  /** Takes removed subtrees apart, about {@code most} nodes. Returns their number. */
  public int dismantle(int most) {
    return dismantler.run(most);
  }
}

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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

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
   * What has become of a removal.
   *
   * @param node the node that was removed; null when nothing was
   * @param unsealed the spread directories that have to be sealed before, so that no namenode adds
   *     a child to them after the removal
   */
  record Removal(NodeInfo node, List<Container> unsealed) {}

  /**
   * The spread directories that take no new children, at any namenode.
   *
   * @param directories the directories
   * @param childrenElsewhere the children that they have at other namenodes
   */
  record Sealed(Set<Container> directories, long childrenElsewhere) {
    /** None. */
    static final Sealed NONE = new Sealed(Set.of(), 0);
  }

  /**
   * Removes a node, and with {@code recursive} all that is below it.
   *
   * @param id the node that has to be at the path; 0 for any
   * @param mayGo whether the node may be removed, asked under its lock
   * @param sealed the spread directories that may be removed
   */
  Removal remove(Utf8 pathText, boolean recursive, long id, Predicate<Node> mayGo, Sealed sealed)
      throws CrailException {
    PathBytes path = PathBytes.of(pathText);
    tree.requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    Removal removal = null;
    Node node = null;
    while (removal == null) {
      Tree.Place place = tree.locate(path);
      if (place.child() == null) {
        throw tree.absent(path, ErrorCode.NODE_NOT_FOUND);
      }
      if (id != 0 && place.child().id() != id) {
        throw ErrorCode.STALE_NODE.exception(path.toString());
      }
      Node child = place.child();
      removal =
          locks.ofChild(
              place.container(),
              child,
              () -> tree.isStill(child, place.container(), path),
              () -> {
                if (!mayGo.test(child)) {
                  throw ErrorCode.CONDITION_FAILED.exception(path.toString());
                }
                return decide(child, path, recursive, sealed);
              });
      node = child;
    }
    if (removal.node() != null && removal.node().childCount() > 0) {
      dismantler.add((Container) node);
      // If shares elsewhere have to be dropped, the answer waits for these messages already.
      if (sealed == Sealed.NONE) {
        dismantler.run(TAKEN_APART_AT_ONCE);
      }
    }
    return removal;
  }

  private Removal decide(Node node, PathBytes path, boolean recursive, Sealed sealed)
      throws CrailException {
    if (node instanceof Container container) {
      return container.childCount() == 0 && !container.isSpread()
          ? removed(container)
          : locks.withoutRenames(() -> decide(container, path, recursive, sealed));
    }
    NodeInfo info = node.info();
    applier.remove(node, clock.currentTimeMillis());
    return new Removal(info, List.of());
  }

  private Removal decide(Container container, PathBytes path, boolean recursive, Sealed sealed)
      throws CrailException {
    boolean isFull = container.childCount() > 0;
    if (isFull && !recursive) {
      throw ErrorCode.NOT_EMPTY.exception(path.toString());
    }
    List<Container> unsealed = new ArrayList<>(tree.spread().in(container));
    unsealed.removeAll(sealed.directories());
    if (!unsealed.isEmpty()) {
      return new Removal(null, unsealed);
    }
    if (container.isSpread() && sealed.childrenElsewhere() > 0 && !recursive) {
      throw ErrorCode.NOT_EMPTY.exception(path.toString());
    }
    return removed(container);
  }

  private Removal removed(Container container) {
    NodeInfo info = container.info();
    applier.removeContainer(container, clock.currentTimeMillis());
    return new Removal(info, List.of());
  }
}

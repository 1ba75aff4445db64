/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.space.NodeSpace;

/**
 * The only way to change a {@link Tree} and its nodes. It keeps the tables, the order of children
 * and the numbers of nodes together, and decides nothing. Only {@code io.crail.namenode.change}
 * uses it, under the locks that each method names.
 */
public final class TreeWriter {
  private final Tree tree;

  public TreeWriter(Tree tree) {
    this.tree = tree;
  }

  /**
   * Gives a new node its contents and its name, where no reader finds it yet. Under the parent's
   * monitor.
   *
   * @param old the node that it is to replace; null for none
   */
  public void prepare(
      Node node,
      NodeSpace space,
      WriteLease<Node> lease,
      Container parent,
      PathBytes path,
      Node old) {
    long sequence = old == null ? parent.children().nextSequence() : old.sequence();
    node.place(parent, path.bytes(), path.nameStart(), path.end(), sequence);
    node.space(space);
    node.lease(lease);
    if (node instanceof Container container) {
      container.quota(parent.quota());
    }
  }

  /** Adds a prepared node under a name that no node has. Under the parent's monitor. */
  public void link(Node node) {
    tree.count(node, 1);
    tree.ids().add(node);
    tree.names().add(node);
    Container.of(node).add(node, node.modifiedMillis());
    if (node.isSpread()) {
      tree.spread().add((Container) node);
    }
  }

  /** Adds a share of a spread directory of another namenode. */
  public void addShare(Share share, boolean isSealed) {
    tree.count(share, 1);
    tree.spread().add(share);
    tree.spread().seal(share, isSealed);
    // Last, so that it gets no child before it is sealed.
    tree.ids().add(share);
  }

  /** Removes a share. Its id is found until {@link #forget}. Under its monitor. */
  public void removeShare(Share share) {
    share.markRemoved();
    tree.spread().remove(share);
    tree.count(share, -1);
  }

  /**
   * Sets whether a spread directory, or a share of one, takes new children. Under its monitor.
   *
   * @param version number of the state of a share; not used for the directory itself
   */
  public void seal(Container directory, boolean isSealed, long version) {
    tree.spread().seal(directory, isSealed);
    if (directory instanceof Share share) {
      share.version(version);
    }
  }

  /**
   * Adds a prepared node in the place of another, which is not found by its name any more. Under
   * the parent's monitor.
   */
  public void link(Node node, Node old) {
    tree.count(node, 1);
    tree.ids().add(node);
    replace(old, node);
  }

  /**
   * Adds a prepared node that is to replace another once its value is whole. Under the monitors of
   * the parent and of the other one.
   *
   * @param length the bytes of the whole value
   * @return the node that was to replace the other one until now, which is gone; or null
   */
  public Node linkPending(Node node, Node present, long length) {
    tree.count(node, 1);
    node.pending(true);
    tree.ids().add(node);
    return gone(tree.pending().put(present, node, length));
  }

  /** Adds a prepared node that no name leads to. Under the monitor of the parent. */
  public void stage(Node node) {
    tree.count(node, 1);
    tree.pending().countStaged(node, 1);
    node.pending(true);
    tree.ids().add(node);
  }

  /** Removes a staged node, whose space does not count for a quota any more. Under its monitor. */
  public void endStaged(Node node) {
    gone(node);
    tree.pending().countStaged(node, -1);
  }

  /** Notes that a staged node is one of the tree from now on. Under its monitor. */
  public void unstage(Node node, boolean isEnumerable) {
    node.unstage(isEnumerable);
  }

  /**
   * Adds a node that was staged, and is prepared again, under its name. Under the monitors of the
   * parent and of both nodes.
   *
   * @param old the node in whose place it is; null for none
   */
  public void linkStaged(Node node, Node old) {
    if (old == null) {
      tree.names().add(node);
      Container.of(node).add(node, node.modifiedMillis());
    } else {
      replace(old, node);
    }
    tree.pending().countStaged(node, -1);
    // Last, so that no second request finds it between the two.
    node.pending(false);
  }

  /**
   * Lets the node that is to replace another, and is whole, take its place. Under the monitors of
   * the parent and of both.
   */
  public void takePlace(Node node, Node present) {
    if (tree.pending().remove(present) != node) {
      throw new AssertionError("another node is to replace " + present);
    }
    replace(present, node);
    // Last, so that a second request of its writer is not answered before.
    node.pending(false);
  }

  private void replace(Node old, Node node) {
    tree.names().replace(old, node);
    Container.of(node).replace(old, node, node.modifiedMillis());
    old.markRemoved();
    tree.count(old, -1);
  }

  /** Removes the node that is to replace another, and returns it; null when there is none. */
  public Node dropPending(Node present) {
    return gone(tree.pending().remove(present));
  }

  private Node gone(Node node) {
    if (node != null) {
      node.markRemoved();
      tree.count(node, -1);
    }
    return node;
  }

  /**
   * Removes a node from its parent and from the names. Its id is found until {@link #forget}. Under
   * the parent's monitor, and that of a container itself.
   */
  public void unlink(Node node, long nowMillis) {
    if (!isWithBytes(node)) {
      // First, so that it gets no child.
      node.markRemoved();
      // They have ended, and their shares end next.
      tree.spread().in(node).forEach(tree.spread()::remove);
    }
    Container.of(node).remove(node, nowMillis);
    tree.names().remove(node);
    tree.count(node, -1);
    node.markRemoved();
  }

  /**
   * Removes the last child of a removed container, as {@link #unlink} does; null when it has none.
   * Under the container's monitor.
   */
  public Node unlinkLast(Container container) {
    Node child = container.removeLast();
    if (child != null) {
      tree.names().remove(child);
      tree.count(child, -1);
      if (isWithBytes(child)) {
        child.markRemoved();
      }
    }
    return child;
  }

  /** Marks a container that was taken from a removed one, so that it gets no child. */
  public void close(Container container) {
    container.markRemoved();
  }

  private static boolean isWithBytes(Node node) {
    return Tree.isWithBytes(node);
  }

  /** Removes the id of a node that is gone. */
  public void forget(Node node) {
    tree.extras().remove(node);
    tree.ids().remove(node);
  }

  /**
   * Gives a node another name, and perhaps another parent and the place of another node. Under the
   * locks of a rename.
   *
   * @param old the node at the new place, which is not found by its name any more; null for none
   * @param heir the node that was to replace {@code node} and keeps the name; null for none
   * @param source the name that it keeps
   */
  public void rename(
      Node node, Container to, PathBytes target, Node old, Node heir, PathBytes source, long now) {
    Container from = Container.of(node);
    boolean stays = from == to && old == null;
    if (heir != null) {
      // First, so that the container is never empty.
      inherit(heir, node, source);
    }
    if (!stays) {
      from.remove(node, now);
    }
    // It takes the old node's place in the order, so that a listing shows each name once.
    long sequence =
        old != null ? old.sequence() : stays ? node.sequence() : to.children().nextSequence();
    if (heir == null) {
      tree.names().remove(node);
    }
    if (node instanceof Container container && from.quota() != to.quota()) {
      container.quota(to.quota());
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
      tree.count(old, -1);
    } else if (stays) {
      to.touch(now);
    } else {
      to.add(node, now);
    }
  }

  private void inherit(Node heir, Node present, PathBytes path) {
    if (tree.pending().remove(present) != heir) {
      throw new AssertionError("another node is to replace " + present);
    }
    Container parent = Container.of(present);
    long sequence = parent.children().nextSequence();
    heir.place(parent, path.bytes(), path.nameStart(), path.end(), sequence);
    tree.names().replace(present, heir);
    parent.add(heir, heir.modifiedMillis());
    heir.pending(false);
  }

  /**
   * Sets attributes and times. Under the node's monitor and its parent's.
   *
   * @param attributes from {@link Node#attributes(int, int, int)}
   */
  public void attributes(Node node, long attributes, long modifiedMillis, long accessedMillis) {
    node.attributes(attributes);
    node.touch(modifiedMillis);
    node.accessed(accessedMillis);
  }

  /** Sets the flags that a record says. Under the node's monitor. */
  public void flags(Node node, int flags) {
    node.flags(flags);
  }

  /** Lets the next child of a container come at this place in its order, or later. */
  public void nextSequence(Container container, long sequence) {
    container.children().nextSequence(sequence);
  }

  /** Makes room in the tables for so many nodes that are to come. */
  public void expect(long count) {
    tree.ids().expect(count);
    tree.names().expect(count);
  }

  /** Lets no new node get this id, nor an earlier one. */
  public void haveGiven(long id) {
    tree.haveGiven(id);
  }

  /** Sets the bytes of a node. Under the node's monitor. */
  public void space(Node node, NodeSpace space) {
    node.space(space);
  }

  /**
   * Notes that bytes have become visible. Under the node's monitor. What is to replace a value is
   * no value before it is whole.
   */
  public void grown(Node node, long nowMillis) {
    node.touch(nowMillis);
    if (!node.isPending()) {
      node.arrived();
    }
    if (node.hasExtras()) {
      // Heap was taken for as much before.
      tree.extras().renew(node, tree.extras().of(node).changed());
    }
  }

  /**
   * Sets what compound operations have given a node, for which heap was taken. Under its monitor.
   */
  public void extras(Node node, NodeExtras extras) {
    tree.extras().put(node, extras);
  }

  /** Puts the end of a node off. Under its monitor. */
  public void putOff(Node node, long endMillis) {
    tree.extras().putOff(node, endMillis);
  }

  /** Notes that the value of a node that is to replace another is whole. Under its monitor. */
  public void complete(Node node) {
    node.arrived();
  }

  /** Notes that the bytes that were announced will not come. Under the node's monitor. */
  public void abandon(Node node) {
    node.abandonPut();
  }

  /** Begins the account of what will be below a container. Under its monitor. */
  public void quota(Container container, Quota quota) {
    container.quota(quota);
  }

  /** Sets the write lease, or ends it with null. Under the node's monitor. */
  public void lease(Node node, WriteLease<Node> lease) {
    node.lease(lease);
  }
}

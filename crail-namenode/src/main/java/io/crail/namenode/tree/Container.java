/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.namenode.quota.Quota;
import io.crail.protocol.part.NodeType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A node with children. Its monitor is the directory's lock: a thread holds it while it changes the
 * set or the names of the children. The children are found in the {@link NameTable}. This class
 * only has their order.
 */
public class Container extends Node {
  private static final VarHandle REACH = reachHandle();

  private final ChildList children = new ChildList();
  private volatile int childCount;
  private volatile boolean sealed;
  // No path below is longer than this container's own path by more than this many bytes.
  private volatile int reach;
  // The account of what is below; null for none. Changed only while there are no children.
  private volatile Quota quota;

  /** Creates a container as {@link Node} does a node. */
  public Container(
      long id,
      NodeType type,
      int storageClass,
      int host,
      int flags,
      long attributes,
      long nowMillis) {
    super(id, type, storageClass, host, flags, attributes, nowMillis);
  }

  /** The container that a node is in; null for the root. */
  public static Container of(Node node) {
    return (Container) node.parent();
  }

  /** The children in the order of their sequence. Under the monitor. */
  ChildList children() {
    return children;
  }

  /**
   * Visits the children whose sequence is not below {@code sequence}, in order. Under the monitor.
   *
   * @return the sequence of the first child that was not taken, or -1 when there is none
   */
  public long visitFrom(long sequence, ChildList.Visitor visitor) {
    return children.visitFrom(sequence, visitor);
  }

  /** The sequence number of the next child. Under the monitor. */
  public long nextSequence() {
    return children.nextSequence();
  }

  /** The number of all children, including those that are not listed. */
  @Override
  public int childCount() {
    return childCount;
  }

  /**
   * The most bytes by which a path below has been longer than this container's path since the
   * container was last empty. No path below exceeds this now.
   */
  @Override
  public int reach() {
    return reach;
  }

  /** True while it is being removed, so that nothing may be added below. */
  public final boolean isSealed() {
    return sealed;
  }

  /** Sets whether it is being removed. Under the monitor. */
  final void seal(boolean isSealed) {
    sealed = isSealed;
  }

  /**
   * The account that its children belong to, with all that they have; null for none. Its own name
   * belongs to the account of its parent. It stays the same as long as there are children.
   */
  public final Quota quota() {
    return quota;
  }

  /** Sets the account, while there are no children. Under the monitor. */
  final void quota(Quota newQuota) {
    quota = newQuota;
  }

  /** True when it has an account of its own, which began here. */
  public final boolean hasOwnQuota() {
    Quota present = quota;
    return present != null && present.isOf(this);
  }

  /** The account that a node belongs to; null for none. */
  public static Quota quotaOf(Node node) {
    Container parent = of(node);
    return parent == null ? null : parent.quota;
  }

  /** Notes that a path below will be longer than this container's path by this many bytes. */
  void extendReach(int bytes) {
    int present = reach;
    while (present < bytes && !REACH.compareAndSet(this, present, bytes)) {
      present = reach;
    }
  }

  /** Adds a child that was placed here. Under the monitor. */
  void add(Node child, long nowMillis) {
    children.append(child);
    childCount = children.size();
    touch(nowMillis);
  }

  /** Replaces a node by one with the same sequence. Under the monitor. */
  void replace(Node old, Node replacement, long nowMillis) {
    children.replace(old, replacement);
    touch(nowMillis);
  }

  /** Removes a child. Under the monitor. */
  void remove(Node child, long nowMillis) {
    children.remove(child);
    childCount = children.size();
    if (childCount == 0) {
      // A node that is about to be added also notes its length under this monitor.
      reach = 0;
    }
    touch(nowMillis);
  }

  private static VarHandle reachHandle() {
    try {
      return MethodHandles.lookup().findVarHandle(Container.class, "reach", int.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Removes and returns the last child; null when there is none. Under the monitor. */
  Node removeLast() {
    Node child = children.removeLast();
    childCount = children.size();
    return child;
  }
}

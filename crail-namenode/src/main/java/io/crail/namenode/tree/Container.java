/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.protocol.part.NodeType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A node with children. Its monitor is the directory's lock: whoever changes the set or the names
 * of its children holds it. The children themselves are found in the {@link NameTable}; here is
 * only their order.
 */
final class Container extends Node {
  private static final VarHandle REACH = reachHandle();

  private final ChildList children = new ChildList();
  private volatile int childCount;
  // No name below makes a path longer than this many bytes longer than this container's own.
  private volatile int reach;

  Container(long id, NodeType type, int storageClass, int host, int flags) {
    super(id, type, storageClass, host, flags);
  }

  /** The children in the order of their sequence. Under the monitor. */
  ChildList children() {
    return children;
  }

  /** All children, those that are not listed included. */
  @Override
  public int childCount() {
    return childCount;
  }

  /**
   * The most bytes by which the path of a node below was ever longer than this container's since it
   * was empty last; no less than by which one is.
   */
  @Override
  int reach() {
    return reach;
  }

  /** Notes that a node below is to have a path so many bytes longer. */
  void extendReach(int bytes) {
    int present = reach;
    while (present < bytes && !REACH.compareAndSet(this, present, bytes)) {
      present = reach;
    }
  }

  /** Takes a child that has been placed here. Under the monitor. */
  void add(Node child, long nowMillis) {
    children.append(child);
    childCount = children.size();
    touch(nowMillis);
  }

  /** Puts a node in the place of another with the same sequence. Under the monitor. */
  public void replace(Node old, Node replacement, long nowMillis) {
    children.replace(old, replacement);
    touch(nowMillis);
  }

  /** Gives a child away. Under the monitor. */
  void remove(Node child, long nowMillis) {
    children.remove(child);
    childCount = children.size();
    if (childCount == 0) {
      // Whoever is about to come notes his length under this monitor, too.
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

  /** Gives the last child away, or gives null when there is none. Under the monitor. */
  Node removeLast() {
    Node child = children.removeLast();
    childCount = children.size();
    return child;
  }
}

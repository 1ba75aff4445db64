/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.protocol.NodeType;

/**
 * A node with children. Its monitor is the directory's lock: whoever changes the set or the names
 * of its children holds it. The children themselves are found in the {@link NameTable}; here is
 * only their order.
 */
final class Container extends Node {
  private final ChildList children = new ChildList();
  private volatile int childCount;

  Container(long id, NodeType type, int storageClass, int host, int flags) {
    super(id, type, storageClass, host, flags);
  }

  /** The children in the order of their sequence. Under the monitor. */
  ChildList children() {
    return children;
  }

  /** All children, those that are not listed included. */
  @Override
  int childCount() {
    return childCount;
  }

  /** Takes a child that has been placed here. Under the monitor. */
  void add(Node child, long nowMillis) {
    children.append(child);
    childCount = children.size();
    touch(nowMillis);
  }

  /** Puts a node in the place of another with the same sequence. Under the monitor. */
  void replace(Node old, Node replacement, long nowMillis) {
    children.replace(old, replacement);
    touch(nowMillis);
  }

  /** Gives a child away. Under the monitor. */
  void remove(Node child, long nowMillis) {
    children.remove(child);
    childCount = children.size();
    touch(nowMillis);
  }

  /** Gives the last child away, or gives null when there is none. Under the monitor. */
  Node removeLast() {
    Node child = children.removeLast();
    childCount = children.size();
    return child;
  }
}

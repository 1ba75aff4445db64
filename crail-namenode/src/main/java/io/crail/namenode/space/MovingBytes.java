/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

/**
 * A small value that will grow, so that its writer has asked for space. The writer writes the old
 * bytes again into the extents, followed by the new ones. Readers see the old bytes until more are
 * committed. From then on the node has only the extents.
 */
public final class MovingBytes extends NodeSpace {
  private final SmallBytes value;
  private volatile NodeSpace extents;

  MovingBytes(SmallBytes value, NodeSpace extents) {
    this.value = value;
    this.extents = extents;
    commit(value.size());
  }

  @Override
  public SmallBytes small() {
    return value;
  }

  /** The extents. Once something is committed, they hold all bytes of the value. */
  public NodeSpace extents() {
    return extents;
  }

  /** Replaces the extents. Under the node's monitor. */
  void extents(NodeSpace other) {
    extents = other;
  }

  @Override
  public int count() {
    return extents.count();
  }

  @Override
  public Allocation at(int index) {
    return extents.at(index);
  }
}

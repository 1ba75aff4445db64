/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

/**
 * A small value whose writer has asked for space, since it will not stay small: it writes the bytes
 * once more into the extents, and those after them. Readers see the bytes that were there until
 * more are committed; from then on the node has the extents alone.
 */
public final class MovingBytes extends SmallBytes {
  private volatile NodeSpace extents;

  public MovingBytes(byte[] bytes, NodeSpace extents) {
    super(bytes);
    this.extents = extents;
  }

  /** The extents, which hold all bytes from the first one on once something is committed. */
  public NodeSpace extents() {
    return extents;
  }

  /** Exchanges the extents. Under the node's monitor. */
  public void extents(NodeSpace other) {
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

  @Override
  public NodeSpace with(Allocation next) {
    extents = extents.with(next);
    return this;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Utf8;
import io.crail.namenode.memory.Footprint;
import io.crail.protocol.part.NodeType;

/**
 * This namenode's share of a spread directory that another namenode owns. It is in no container of
 * this namenode, and has the id of the directory: paths that begin at the directory (see {@link
 * io.crail.protocol.part.SpreadPath}) lead to it by that id.
 */
public final class Share extends Container {
  private final Utf8 path;
  private final int owner;
  private final long incarnation;
  // Changed under the monitor.
  private volatile long version;

  /**
   * Creates a share.
   *
   * @param path the path of the directory, which never changes
   * @param owner index of the namenode that owns it
   * @param incarnation the owner's start
   * @param version number of its state
   */
  public Share(
      long id,
      NodeType type,
      int storageClass,
      int host,
      int flags,
      long attributes,
      long nowMillis,
      Utf8 path,
      int owner,
      long incarnation,
      long version) {
    super(id, type, storageClass, host, flags, attributes, nowMillis);
    this.path = path;
    this.owner = owner;
    this.incarnation = incarnation;
    this.version = version;
  }

  /** Index of the namenode that owns the directory. */
  public int owningNamenode() {
    return owner;
  }

  /** The start of that namenode. */
  public long incarnation() {
    return incarnation;
  }

  /** Number of its state. */
  public long version() {
    return version;
  }

  /** Sets the number of its state. Under the monitor. */
  void version(long newVersion) {
    version = newVersion;
  }

  @Override
  String topPath() {
    return path.toString();
  }

  @Override
  public int topLength() {
    return path.length();
  }

  /** Bytes of heap of a share whose path has so many bytes. */
  public static long footprint(NodeType type, int pathLength) {
    return Node.footprint(type, 0)
        + Footprint.object(1, 2 * Long.BYTES + Integer.BYTES)
        + Footprint.bytes(pathLength);
  }

  @Override
  public long footprint() {
    return footprint(type(), path.length());
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.common.Utf8;
import io.crail.compound.Lifetime;
import io.crail.namenode.tree.Share;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodePath;

/**
 * The state of this namenode's share of a spread directory that another one owns. The directory
 * itself is a node like others, with a flag.
 *
 * @param id the id of the directory
 * @param owner index of the namenode that owns it
 * @param incarnation the owner's start
 * @param version number of the state
 * @param state as in {@link SetShare}
 * @param type number of the type
 * @param flags as in {@code NodeInfo}
 * @param storageClass the storage class
 * @param host number of the preferred host
 * @param attributes permission bits, owner and group
 * @param modifiedMillis milliseconds since 1970
 * @param childMillis how long each new child lives; 0 for no limit
 * @param childIdle whether accesses count for such a child
 * @param path the path of the directory
 */
public record ShareChange(
    long id,
    int owner,
    long incarnation,
    long version,
    int state,
    int type,
    int flags,
    int storageClass,
    int host,
    long attributes,
    long modifiedMillis,
    long childMillis,
    boolean childIdle,
    Utf8 path)
    implements Change {
  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("ShareChange")
          .i64("id", "the id of the directory")
          .u16("owner", "index of the namenode that owns it")
          .i64("incarnation", "the owner's start")
          .i64("version", "number of the state")
          .u8("state", "0: open, 1: sealed, 2: gone")
          .u8("type", "number of the type")
          .u8("flags", "as in NodeInfo")
          .u8("storageClass", "storage class")
          .u16("host", "number of the preferred host")
          .i64("attributes", "permission bits, owner, group")
          .i64("modifiedMillis", "milliseconds since 1970")
          .i64("childMillis", "how long each new child lives; 0 for no limit")
          .u8("childIdle", "whether accesses count for such a child; 0 or 1")
          .u16("pathLength", "bytes of path")
          .bytes("path", "pathLength", 2, NodePath.MAX_LENGTH, "the path of the directory");

  /** The codec. */
  public static final Codec<ShareChange> CODEC = Codec.of(ShareChange.class, LAYOUT);

  static ShareChange of(Share share, int state, Lifetime ofChildren) {
    return new ShareChange(
        share.id(),
        share.owningNamenode(),
        share.incarnation(),
        share.version(),
        state,
        share.typeNumber(),
        share.flags(),
        share.storageClass(),
        share.host(),
        share.attributes(),
        share.modifiedMillis(),
        ofChildren.millis(),
        ofChildren.sinceAccess(),
        Utf8.of(share.path()));
  }

  @Override
  public int number() {
    return 11;
  }

  @Override
  public Codec<ShareChange> codec() {
    return CODEC;
  }
}

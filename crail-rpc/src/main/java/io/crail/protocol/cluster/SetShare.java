/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TextLimits;

/**
 * Says to another namenode in which state its share of a spread directory has to be. The owner of
 * the directory sends it. The state is absolute, so it may be said again; one with a lower version
 * than the share has comes too late, and changes nothing.
 */
public final class SetShare {
  /** State: the share takes children. */
  public static final int OPEN = 0;

  /**
   * State: the directory is being removed. The share serves no path to a child meanwhile, since
   * only the owner knows whether the directory is still there.
   */
  public static final int SEALED = 1;

  /** State: there is no share any more, nor what is below it. */
  public static final int GONE = 2;

  private SetShare() {}

  /**
   * The request.
   *
   * @param owner index of the namenode that owns the directory
   * @param incarnation the owner's start
   * @param id the id of the directory
   * @param version number of this state; the owner numbers all states of its directories
   * @param state {@link #OPEN}, {@link #SEALED} or {@link #GONE}
   * @param makes whether a share that is missing is made. Otherwise it is left to the next
   *     comparison, since the state may have been overtaken by the end of the directory
   * @param type type of the directory
   * @param flags as in NodeInfo
   * @param permissions twelve permission bits
   * @param storageClass its storage class
   * @param modifiedMillis when its attributes or its own children changed last, milliseconds since
   *     1970
   * @param childMillis how long each new child lives; 0 for no limit
   * @param childIdle whether accesses count for such a child
   * @param limited whether the directory has limits: a share that is made for it takes nothing
   *     until something is lent to it, see {@link LendQuota}
   * @param path its path
   * @param host its preferred host; empty for none
   * @param user its owner's name; empty for the user of the namenodes
   * @param group its group's name; empty for the user of the namenodes
   */
  public record Request(
      int owner,
      long incarnation,
      long id,
      long version,
      int state,
      boolean makes,
      NodeType type,
      int flags,
      int permissions,
      int storageClass,
      long modifiedMillis,
      long childMillis,
      boolean childIdle,
      boolean limited,
      Utf8 path,
      Utf8 host,
      Utf8 user,
      Utf8 group) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SetShare.Request")
            .u16("owner", "index of the namenode that owns the directory")
            .i64("incarnation", "the owner's start")
            .i64("id", "the id of the directory")
            .i64("version", "number of this state")
            .u8("state", "0: open, 1: sealed, 2: gone")
            .u8("makes", "whether a share that is missing is made; 0 or 1")
            .struct("type", NodeType.CODEC)
            .u8("flags", "as in NodeInfo")
            .u16("permissions", "permission bits, 0 to 07777")
            .u8("storageClass", "storage class")
            .i64("modifiedMillis", "last change, milliseconds since 1970")
            .i64("childMillis", "how long each new child lives; 0 for no limit")
            .u8("childIdle", "whether accesses count for such a child; 0 or 1")
            .u8("limited", "whether the directory has limits; 0 or 1")
            .u16("pathLength", "bytes of path")
            .u16("hostLength", "bytes of host")
            .u16("userLength", "bytes of user")
            .u16("groupLength", "bytes of group")
            .bytes("path", "pathLength", 2, NodePath.MAX_LENGTH, "the path of the directory")
            .bytes("host", "hostLength", 0, TextLimits.HOST, "preferred host; empty for none")
            .bytes("user", "userLength", 0, TextLimits.USER, "its owner; empty for the namenode's")
            .bytes("group", "groupLength", 0, TextLimits.USER, "its group, likewise");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** A later state of the same directory, for which no missing share is made. */
    public Request next(long newVersion, int newState) {
      return new Request(
          owner,
          incarnation,
          id,
          newVersion,
          newState,
          false,
          type,
          flags,
          permissions,
          storageClass,
          modifiedMillis,
          childMillis,
          childIdle,
          limited,
          path,
          host,
          user,
          group);
    }
  }

  /**
   * The answer.
   *
   * @param childCount children in the share, or that were in it when it ended
   */
  public record Response(long childCount) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SetShare.Response").i64("childCount", "children in the share");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}

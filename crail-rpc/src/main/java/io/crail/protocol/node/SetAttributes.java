/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.SpreadPath;
import io.crail.protocol.part.TextLimits;
import java.util.function.UnaryOperator;

/** Sets owner, group, permission bits and times of a node, each only if the request asks for it. */
public final class SetAttributes {
  /** Which: the permission bits. */
  public static final int PERMISSIONS = 1;

  /** Which: the owner. */
  public static final int OWNER = 2;

  /** Which: the group. */
  public static final int GROUP = 4;

  /** Which: the time of the last change. */
  public static final int MODIFIED = 8;

  /** Which: the time of the last access. */
  public static final int ACCESSED = 16;

  /** Which: all of them. */
  public static final int ALL = 31;

  private SetAttributes() {}

  /**
   * The request.
   *
   * @param which what is set: the sum of {@link #PERMISSIONS} and the other constants that apply
   * @param permissions twelve permission bits
   * @param modifiedMillis milliseconds since 1970
   * @param accessedMillis milliseconds since 1970
   * @param path the path, in the form of NodePath or SpreadPath
   * @param owner name of the owner
   * @param group name of the group
   */
  public record Request(
      int which,
      int permissions,
      long modifiedMillis,
      long accessedMillis,
      Utf8 path,
      Utf8 owner,
      Utf8 group) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SetAttributes.Request")
            .u8(
                "which",
                "1: permissions, 2: owner, 4: group, 8: modifiedMillis, 16: accessedMillis")
            .u16("permissions", "permission bits, 0 to 07777")
            .i64("modifiedMillis", "last change, milliseconds since 1970")
            .i64("accessedMillis", "last access, milliseconds since 1970")
            .u16("pathLength", "bytes of path")
            .u16("ownerLength", "bytes of owner")
            .u16("groupLength", "bytes of group")
            .bytes("path", "pathLength", 1, SpreadPath.MAX_LENGTH, SpreadPath.MEANING)
            .bytes("owner", "ownerLength", 0, TextLimits.USER, "name of the owner")
            .bytes("group", "groupLength", 0, TextLimits.USER, "name of the group");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** The same request with its path in another form. */
    public Request by(UnaryOperator<Utf8> form) {
      return new Request(
          which, permissions, modifiedMillis, accessedMillis, form.apply(path), owner, group);
    }
  }

  /**
   * The answer.
   *
   * @param node the node after the change
   */
  public record Response(NodeInfo node) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SetAttributes.Response").struct("node", NodeInfo.CODEC);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}

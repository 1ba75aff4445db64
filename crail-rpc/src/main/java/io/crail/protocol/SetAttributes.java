/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import java.nio.ByteBuffer;

/** Sets owner, group, permission bits and times of a node, each only if it is asked for. */
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
   * @param which what is set: a sum of {@link #PERMISSIONS} and the others
   * @param permissions twelve permission bits
   * @param modifiedMillis milliseconds since 1970
   * @param accessedMillis milliseconds since 1970
   * @param path the path, in the form of NodePath
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
            .bytes(
                "path", "pathLength", 1, NodePath.MAX_LENGTH, "the path, in the form of NodePath")
            .bytes("owner", "ownerLength", 0, TextLimits.USER, "name of the owner")
            .bytes("group", "groupLength", 0, TextLimits.USER, "name of the group");

    private static final int WHICH = LAYOUT.offset("which");
    private static final int PERMISSION_BITS = LAYOUT.offset("permissions");
    private static final int MODIFIED_MILLIS = LAYOUT.offset("modifiedMillis");
    private static final int ACCESSED_MILLIS = LAYOUT.offset("accessedMillis");
    private static final int PATH_LENGTH = LAYOUT.offset("pathLength");
    private static final int OWNER_LENGTH = LAYOUT.offset("ownerLength");
    private static final int GROUP_LENGTH = LAYOUT.offset("groupLength");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Request message) {
            return LAYOUT.fixedLength()
                + message.path.length()
                + message.owner.length()
                + message.group.length();
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.put(offset + WHICH, (byte) message.which);
            out.putShort(offset + PERMISSION_BITS, (short) message.permissions);
            out.putLong(offset + MODIFIED_MILLIS, message.modifiedMillis);
            out.putLong(offset + ACCESSED_MILLIS, message.accessedMillis);
            out.putShort(offset + PATH_LENGTH, (short) message.path.length());
            out.putShort(offset + OWNER_LENGTH, (short) message.owner.length());
            out.putShort(offset + GROUP_LENGTH, (short) message.group.length());
            int at = offset + LAYOUT.fixedLength();
            message.path.copyTo(out, at);
            at += message.path.length();
            message.owner.copyTo(out, at);
            at += message.owner.length();
            message.group.copyTo(out, at);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            int pathAt = offset + LAYOUT.fixedLength();
            int pathLength = in.getShort(offset + PATH_LENGTH) & 0xffff;
            int ownerAt = pathAt + pathLength;
            int ownerLength = in.getShort(offset + OWNER_LENGTH) & 0xffff;
            int groupAt = ownerAt + ownerLength;
            int groupLength = in.getShort(offset + GROUP_LENGTH) & 0xffff;
            return new Request(
                in.get(offset + WHICH) & 0xff,
                in.getShort(offset + PERMISSION_BITS) & 0xffff,
                in.getLong(offset + MODIFIED_MILLIS),
                in.getLong(offset + ACCESSED_MILLIS),
                Utf8.copyOf(in, pathAt, pathLength),
                Utf8.copyOf(in, ownerAt, ownerLength),
                Utf8.copyOf(in, groupAt, groupLength));
          }
        };
  }

  /**
   * The answer.
   *
   * @param node the node after the change
   */
  public record Response(NodeInfo node) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SetAttributes.Response").struct("node", NodeInfo.LAYOUT);

    private static final int NODE = LAYOUT.offset("node");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            message.node.encode(out, offset + NODE);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) throws CrailException {
            return new Response(NodeInfo.read(in, offset + NODE));
          }
        };
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import java.nio.ByteBuffer;

/** Removes a node, or a whole subtree. */
public final class Remove {
  private Remove() {}

  /**
   * The request.
   *
   * @param recursive whether a container with children is removed too
   * @param path the path, in the form of NodePath
   */
  public record Request(boolean recursive, Utf8 path) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Remove.Request")
            .u8("recursive", "whether a container with children is removed too; 0 or 1")
            .u16("pathLength", "bytes of path")
            .bytes(
                "path", "pathLength", 1, NodePath.MAX_LENGTH, "the path, in the form of NodePath");

    static final int RECURSIVE = LAYOUT.offset("recursive");
    static final int PATH_LENGTH = LAYOUT.offset("pathLength");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Request message) {
            return LAYOUT.fixedLength() + message.path.length();
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.put(offset + RECURSIVE, (byte) (message.recursive ? 1 : 0));
            out.putShort(offset + PATH_LENGTH, (short) message.path.length());
            int at = offset + LAYOUT.fixedLength();
            message.path.copyTo(out, at);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int pathLength = in.getShort(offset + PATH_LENGTH) & 0xffff;
            Utf8 path = Utf8.copyOf(in, at, pathLength);
            return new Request(in.get(offset + RECURSIVE) != 0, path);
          }
        };
  }

  /**
   * The answer.
   *
   * @param node the node that was removed
   */
  public record Response(NodeInfo node) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Remove.Response").struct("node", NodeInfo.LAYOUT);

    static final int NODE = LAYOUT.offset("node");

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

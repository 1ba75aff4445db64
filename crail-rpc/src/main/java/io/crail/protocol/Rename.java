/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import java.nio.ByteBuffer;

/**
 * Moves a node to another name, atomically for every reader. An existing target is refused, or
 * replaced in the same moment if that is asked for.
 */
public final class Rename {
  private Rename() {}

  /**
   * The request.
   *
   * @param replace whether a node with bytes takes the place of one at the target, a container that
   *     of an empty one of its type
   * @param source present path
   * @param target new path
   */
  public record Request(boolean replace, Utf8 source, Utf8 target) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Rename.Request")
            .u8("replace", "whether it takes the place of a node at the target; 0 or 1")
            .u16("sourceLength", "bytes of source")
            .u16("targetLength", "bytes of target")
            .bytes("source", "sourceLength", 1, NodePath.MAX_LENGTH, "present path")
            .bytes("target", "targetLength", 1, NodePath.MAX_LENGTH, "new path");

    static final int REPLACE = LAYOUT.offset("replace");
    static final int SOURCE_LENGTH = LAYOUT.offset("sourceLength");
    static final int TARGET_LENGTH = LAYOUT.offset("targetLength");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Request message) {
            return LAYOUT.fixedLength() + message.source.length() + message.target.length();
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.put(offset + REPLACE, (byte) (message.replace ? 1 : 0));
            out.putShort(offset + SOURCE_LENGTH, (short) message.source.length());
            out.putShort(offset + TARGET_LENGTH, (short) message.target.length());
            int at = offset + LAYOUT.fixedLength();
            message.source.copyTo(out, at);
            at += message.source.length();
            message.target.copyTo(out, at);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int sourceLength = in.getShort(offset + SOURCE_LENGTH) & 0xffff;
            Utf8 source = Utf8.copyOf(in, at, sourceLength);
            at += sourceLength;
            int targetLength = in.getShort(offset + TARGET_LENGTH) & 0xffff;
            Utf8 target = Utf8.copyOf(in, at, targetLength);
            return new Request(in.get(offset + REPLACE) != 0, source, target);
          }
        };
  }

  /**
   * The answer.
   *
   * @param node the node
   */
  public record Response(NodeInfo node) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Rename.Response").struct("node", NodeInfo.LAYOUT);

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

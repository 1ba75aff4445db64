/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.SpreadPath;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.UnaryOperator;

/** Finds a node by its path, with its first extents. */
public final class Lookup {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 4;

  private Lookup() {}

  /**
   * The request.
   *
   * @param path the path, in the form of NodePath or SpreadPath
   */
  public record Request(Utf8 path) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Lookup.Request")
            .u16("pathLength", "bytes of path")
            .bytes("path", "pathLength", 1, SpreadPath.MAX_LENGTH, SpreadPath.MEANING);

    /** Offset of the number of path bytes. */
    public static final int PATH_LENGTH = LAYOUT.offset("pathLength");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(Request.class, LAYOUT) {
          @Override
          public int length(Request message) {
            return lengthFor(message.path);
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            encodePath(message.path, out, offset);
          }

          @Override
          public Request read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int pathLength = in.getShort(offset + PATH_LENGTH) & 0xffff;
            Utf8 path = Utf8.copyOf(in, at, pathLength);
            return new Request(path);
          }
        };

    /** The same request with its path in another form. */
    public Request by(UnaryOperator<Utf8> form) {
      return new Request(form.apply(path));
    }

    /** Bytes of the request for a path. */
    public static int lengthFor(Utf8 path) {
      return LAYOUT.fixedLength() + path.length();
    }

    /** Writes the request for a path without a request object. */
    public static void encodePath(Utf8 path, ByteBuffer out, int offset) {
      out.putShort(offset + PATH_LENGTH, (short) path.length());
      path.copyTo(out, offset + LAYOUT.fixedLength());
    }
  }

  /**
   * The answer.
   *
   * @param node the node
   * @param extents its first extents
   * @param value all bytes of a small value
   */
  public record Response(NodeInfo node, List<Extent> extents, SmallValue value) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Lookup.Response")
            .struct("node", NodeInfo.CODEC)
            .u16("extentsCount", "number of extents")
            .i32("extentsLength", "bytes of extents")
            .i32("valueLength", "bytes of value")
            .parts("extents", "extentsCount", "extentsLength", Extent.CODEC, MAX_EXTENTS)
            .bytes("value", "valueLength", 0, SmallValue.MAX_LENGTH, SmallValue.MEANING);

    /** Offset of the node. */
    public static final int NODE = LAYOUT.offset("node");

    /** Offset of the number of extents. */
    public static final int EXTENTS_COUNT = LAYOUT.offset("extentsCount");

    /** Offset of the number of bytes of all extents. */
    public static final int EXTENTS_LENGTH = LAYOUT.offset("extentsLength");

    /** Offset of the number of value bytes. */
    public static final int VALUE_LENGTH = LAYOUT.offset("valueLength");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(Response.class, LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength()
                + Extent.CODEC.lengthOfAll(message.extents)
                + message.value.length();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            message.node.encode(out, offset + NODE);
            int at = offset + LAYOUT.fixedLength();
            int extentsLength = Extent.CODEC.lengthOfAll(message.extents);
            out.putShort(offset + EXTENTS_COUNT, (short) message.extents.size());
            out.putInt(offset + EXTENTS_LENGTH, extentsLength);
            Extent.CODEC.encodeAll(message.extents, out, at);
            at += extentsLength;
            out.putInt(offset + VALUE_LENGTH, message.value.length());
            message.value.copyTo(out, at);
          }

          @Override
          public Response read(ByteBuffer in, int offset) throws CrailException {
            int at = offset + LAYOUT.fixedLength();
            int extentsCount = in.getShort(offset + EXTENTS_COUNT) & 0xffff;
            int extentsLength = in.getInt(offset + EXTENTS_LENGTH);
            List<Extent> extents = Extent.CODEC.decodeAll(in, at, extentsCount, extentsLength);
            at += extentsLength;
            int valueLength = in.getInt(offset + VALUE_LENGTH);
            SmallValue value = SmallValue.copyOf(in, at, valueLength);
            return new Response(NodeInfo.read(in, offset + NODE), extents, value);
          }
        };
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.CrailException;
import java.nio.ByteBuffer;
import java.util.List;

/** Takes the write lease of a node that nobody writes to, to append to it. */
public final class AcquireLease {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 1;

  private AcquireLease() {}

  /**
   * The request.
   *
   * @param id node id
   * @param token not 0: the write lease to take; taking it again is no error
   */
  public record Request(long id, long token) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("AcquireLease.Request")
            .i64("id", "node id")
            .i64("token", "not 0: the write lease to take; taking it again is no error");

    static final int ID = LAYOUT.offset("id");
    static final int TOKEN = LAYOUT.offset("token");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + ID, message.id);
            out.putLong(offset + TOKEN, message.token);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getLong(offset + ID), in.getLong(offset + TOKEN));
          }
        };
  }

  /**
   * The answer.
   *
   * @param node the node
   * @param extents the extent that holds its end, if there is one
   * @param value all its bytes, of a small value
   */
  public record Response(NodeInfo node, List<Extent> extents, SmallValue value) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("AcquireLease.Response")
            .struct("node", NodeInfo.LAYOUT)
            .u16("extentsCount", "number of extents")
            .u16("valueLength", "bytes of value")
            .list("extents", "extentsCount", Extent.LAYOUT, MAX_EXTENTS)
            .bytes("value", "valueLength", 0, SmallValue.MAX_LENGTH, SmallValue.MEANING);

    static final int NODE = LAYOUT.offset("node");
    static final int EXTENTS_COUNT = LAYOUT.offset("extentsCount");
    static final int VALUE_LENGTH = LAYOUT.offset("valueLength");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength()
                + message.extents.size() * Extent.LAYOUT.fixedLength()
                + message.value.length();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            message.node.encode(out, offset + NODE);
            out.putShort(offset + EXTENTS_COUNT, (short) message.extents.size());
            int at = offset + LAYOUT.fixedLength();
            Extent.encodeAll(message.extents, out, at);
            at += message.extents.size() * Extent.LAYOUT.fixedLength();
            out.putShort(offset + VALUE_LENGTH, (short) message.value.length());
            message.value.copyTo(out, at);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) throws CrailException {
            int at = offset + LAYOUT.fixedLength();
            int extentsCount = in.getShort(offset + EXTENTS_COUNT) & 0xffff;
            List<Extent> extents = Extent.readAll(in, at, extentsCount);
            at += extentsCount * Extent.LAYOUT.fixedLength();
            int valueLength = in.getShort(offset + VALUE_LENGTH) & 0xffff;
            SmallValue value = SmallValue.copyOf(in, at, valueLength);
            return new Response(NodeInfo.read(in, offset + NODE), extents, value);
          }
        };
  }
}

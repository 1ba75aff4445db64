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
import io.crail.protocol.part.TextLimits;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Puts a whole value: creates a key-value in a table, and replaces an existing one. The namenode
 * keeps the bytes of a small value. For a larger value the writer gets a write lease and space for
 * all bytes.
 */
public final class Put {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 1;

  private Put() {}

  /**
   * The request.
   *
   * @param enumerable whether the value appears in listings
   * @param strict whether its space may come only from its storage class
   * @param permissions twelve permission bits
   * @param storageClass storage class, or -1 for the parent's
   * @param token the write lease that the writer gets if the namenode does not keep the value. 0 is
   *     allowed only for an empty value, or for one that comes with the request; the latter is
   *     refused if the namenode does not keep it
   * @param length bytes of the whole value. If there is no space for all of them, or for as many as
   *     the extents in one answer to extend can hold, the put fails with NO_SPACE and changes
   *     nothing
   * @param path the path, in the form of NodePath or SpreadPath
   * @param host host on which its space should be: empty for any, * for the parent's
   * @param value all bytes, or none. A namenode that has memory for them keeps them, and the node
   *     is closed at once and has no lease. Otherwise the namenode ignores them
   */
  public record Request(
      boolean enumerable,
      boolean strict,
      int permissions,
      int storageClass,
      long token,
      long length,
      Utf8 path,
      Utf8 host,
      SmallValue value) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Put.Request")
            .u8("enumerable", "whether the value appears in listings; 0 or 1")
            .u8("strict", "whether its space comes from its storage class only; 0 or 1")
            .u16("permissions", "permission bits, 0 to 07777")
            .i32("storageClass", "storage class, or -1 for the parent's")
            .i64("token", "the write lease that the writer gets if the value is not kept")
            .i64("length", "bytes of the whole value, which need space if it is not kept")
            .u16("pathLength", "bytes of path")
            .u16("hostLength", "bytes of host")
            .i32("valueLength", "bytes of value")
            .bytes("path", "pathLength", 1, SpreadPath.MAX_LENGTH, SpreadPath.MEANING)
            .bytes(
                "host",
                "hostLength",
                0,
                TextLimits.HOST,
                "host that its space should be on: empty for any, or * for the parent's")
            .bytes(
                "value",
                "valueLength",
                0,
                SmallValue.MAX_LENGTH,
                "all bytes, or none; kept, or as if they were not there");

    /** Offset of whether the value appears in listings. */
    public static final int ENUMERABLE = LAYOUT.offset("enumerable");

    /** Offset of whether its space may come only from its class. */
    public static final int STRICT = LAYOUT.offset("strict");

    /** Offset of the permission bits. */
    public static final int PERMISSIONS = LAYOUT.offset("permissions");

    /** Offset of the storage class. */
    public static final int STORAGE_CLASS = LAYOUT.offset("storageClass");

    /** Offset of the token. */
    public static final int TOKEN = LAYOUT.offset("token");

    /** Offset of the bytes of the whole value. */
    public static final int LENGTH = LAYOUT.offset("length");

    /** Offset of the number of path bytes. */
    public static final int PATH_LENGTH = LAYOUT.offset("pathLength");

    /** Offset of the number of host bytes. */
    public static final int HOST_LENGTH = LAYOUT.offset("hostLength");

    /** Offset of the number of value bytes. */
    public static final int VALUE_LENGTH = LAYOUT.offset("valueLength");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** The same request with its path in another form. */
    public Request by(UnaryOperator<Utf8> form) {
      return new Request(
          enumerable,
          strict,
          permissions,
          storageClass,
          token,
          length,
          form.apply(path),
          host,
          value);
    }
  }

  /**
   * A request whose value is in the caller's memory and is written from there.
   *
   * @param enumerable as in {@link Request}, like the components up to {@code host}
   * @param memory holds the value
   * @param from where the value begins
   * @param length the length of the value in bytes
   * @param carried whether the bytes travel with the request
   */
  public record Draft(
      boolean enumerable,
      boolean strict,
      int permissions,
      int storageClass,
      long token,
      Utf8 path,
      Utf8 host,
      ByteBuffer memory,
      int from,
      int length,
      boolean carried) {
    /** The same request with its path in another form. */
    public Draft by(UnaryOperator<Utf8> form) {
      return new Draft(
          enumerable,
          strict,
          permissions,
          storageClass,
          token,
          form.apply(path),
          host,
          memory,
          from,
          length,
          carried);
    }

    /** Bytes of the request. */
    public int encodedLength() {
      return Request.LAYOUT.fixedLength() + path.length() + host.length() + (carried ? length : 0);
    }

    /** Writes the request. */
    public void encode(ByteBuffer out, int offset) {
      out.put(offset + Request.ENUMERABLE, (byte) (enumerable ? 1 : 0));
      out.put(offset + Request.STRICT, (byte) (strict ? 1 : 0));
      out.putShort(offset + Request.PERMISSIONS, (short) permissions);
      out.putInt(offset + Request.STORAGE_CLASS, storageClass);
      out.putLong(offset + Request.TOKEN, token);
      out.putLong(offset + Request.LENGTH, length);
      out.putShort(offset + Request.PATH_LENGTH, (short) path.length());
      out.putShort(offset + Request.HOST_LENGTH, (short) host.length());
      out.putInt(offset + Request.VALUE_LENGTH, carried ? length : 0);
      int at = offset + Request.LAYOUT.fixedLength();
      path.copyTo(out, at);
      at += path.length();
      host.copyTo(out, at);
      at += host.length();
      if (carried) {
        // Another user of the memory may have moved its limit in the meantime.
        ByteBuffer bytes = memory.limit() < from + length ? memory.duplicate().clear() : memory;
        out.put(at, bytes, from, length);
      }
    }
  }

  /**
   * The answer.
   *
   * @param node the new node. It has bytes, and then no lease, if the namenode kept those of the
   *     request
   * @param extents the first extent of a node that has a lease
   */
  public record Response(NodeInfo node, List<Extent> extents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Put.Response")
            .struct("node", NodeInfo.CODEC)
            .u16("extentsCount", "number of extents")
            .i32("extentsLength", "bytes of extents")
            .parts("extents", "extentsCount", "extentsLength", Extent.CODEC, MAX_EXTENTS);

    /** Offset of the node. */
    public static final int NODE = LAYOUT.offset("node");

    /** Offset of the number of extents. */
    public static final int EXTENTS_COUNT = LAYOUT.offset("extentsCount");

    /** Offset of the number of bytes of all extents. */
    public static final int EXTENTS_LENGTH = LAYOUT.offset("extentsLength");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(Response.class, LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + Extent.CODEC.lengthOfAll(message.extents);
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            message.node.encode(out, offset + NODE);
            out.putShort(offset + EXTENTS_COUNT, (short) message.extents.size());
            out.putInt(offset + EXTENTS_LENGTH, Extent.CODEC.lengthOfAll(message.extents));
            Extent.CODEC.encodeAll(message.extents, out, offset + LAYOUT.fixedLength());
          }

          @Override
          public Response read(ByteBuffer in, int offset) throws CrailException {
            int extentsCount = in.getShort(offset + EXTENTS_COUNT) & 0xffff;
            int extentsLength = in.getInt(offset + EXTENTS_LENGTH);
            return new Response(
                NodeInfo.read(in, offset + NODE),
                Extent.CODEC.decodeAll(
                    in, offset + LAYOUT.fixedLength(), extentsCount, extentsLength));
          }
        };
  }
}

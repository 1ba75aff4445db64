/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TextLimits;
import java.nio.ByteBuffer;
import java.util.List;

/** Creates a node. In a table, and elsewhere if asked to, it replaces another one atomically. */
public final class Create {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 1;

  /** Most extents that are given ahead. */
  public static final int MAX_GIVEN = 1;

  /** Storage class: the parent's. */
  public static final int PARENT_CLASS = -1;

  /** Host: the parent's. */
  public static final Utf8 PARENT_HOST = Utf8.of("*");

  private Create() {}

  /**
   * Space of key-values that are not there yet.
   *
   * @param grant not 0: what an earlier answer has given ahead, for all bytes of the key-value that
   *     is created, {@code wanted} of them. If it is still there, it becomes the first extent of
   *     the node. Else it is as if it had not been given
   * @param token that of the request which the space was given with
   * @param written whether the bytes lie there already: then the node has them, and is closed from
   *     the beginning, without a lease. Else they may be on their way, and the creator has the
   *     lease
   * @param bytes those of a key-value that is put next into the same container in the same way, for
   *     which space is to be given; 0 for none
   */
  public record Ahead(long grant, long token, boolean written, int bytes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Create.Ahead")
            .i64(
                "grant",
                "not 0: space given ahead for this class and host, for the wanted bytes; or none")
            .i64("token", "that of the request which this space was given with")
            .u8("written", "whether the bytes lie there; else they may be on their way; 0 or 1")
            .i32("bytes", "those of the next value, to give space for; or 0");

    /** Nothing was given, and nothing is to be. */
    public static final Ahead NONE = new Ahead(0, 0, false, 0);

    private static final int GRANT = LAYOUT.offset("grant");
    private static final int TOKEN = LAYOUT.offset("token");
    private static final int WRITTEN = LAYOUT.offset("written");
    private static final int BYTES = LAYOUT.offset("bytes");

    static final Codec<Ahead> CODEC =
        new Codec<>(Ahead.class, LAYOUT) {
          @Override
          public void encode(Ahead message, ByteBuffer out, int offset) {
            message.encode(out, offset);
          }

          @Override
          public Ahead read(ByteBuffer in, int offset) {
            return Ahead.read(in, offset);
          }
        };

    /** True when a request says nothing of space ahead. */
    public static boolean isNone(ByteBuffer in, int offset) {
      return in.getLong(offset + GRANT) == 0 && in.getInt(offset + BYTES) == 0;
    }

    private static Ahead read(ByteBuffer in, int offset) {
      long token = in.getLong(offset + TOKEN);
      boolean written = in.get(offset + WRITTEN) != 0;
      return token == 0 && !written && isNone(in, offset)
          ? NONE
          : new Ahead(in.getLong(offset + GRANT), token, written, in.getInt(offset + BYTES));
    }

    private void encode(ByteBuffer out, int offset) {
      out.putLong(offset + GRANT, grant);
      out.putLong(offset + TOKEN, token);
      out.put(offset + WRITTEN, (byte) (written ? 1 : 0));
      out.putInt(offset + BYTES, bytes);
    }
  }

  /**
   * Space that is given ahead. Whoever has it may write to it as long as a lease lasts, counted
   * from the request; it need not be given back.
   *
   * @param grant names it
   * @param extent where it is
   */
  public record Given(long grant, Extent extent) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Create.Given")
            .i64("grant", "names the space, which may be written to until a lease is over")
            .struct("extent", Extent.CODEC);

    /** The codec. */
    public static final Codec<Given> CODEC = Codec.of(Given.class, LAYOUT);
  }

  /**
   * The request.
   *
   * @param type node type
   * @param enumerable whether the node appears in listings
   * @param strict whether its space comes from its storage class only
   * @param replace whether a node with bytes takes the place of one that is there; in a table it
   *     always does
   * @param needed with a token: whether nothing is done, but NO_SPACE, where there is no space for
   *     the bytes that are wanted, or for as many of them as an answer to extend has extents for
   * @param permissions twelve permission bits
   * @param storageClass storage class, or -1 for the parent's
   * @param token not 0: the write lease that the creator takes on a node with bytes
   * @param wanted bytes that the creator, if it takes the lease, will write at once: the first
   *     extent for them is allocated, and the others too where they are needed; 0 for none
   * @param path the path, in the form of NodePath
   * @param host host that its space should be on: empty for any, or * for the parent's
   * @param value all bytes of a key-value. A namenode that has memory for them keeps them, and the
   *     node is closed from the beginning, without a lease. Else it is as if they were not there;
   *     without a token they are refused
   * @param ahead space that was given ahead, or is to be
   */
  public record Request(
      NodeType type,
      boolean enumerable,
      boolean strict,
      boolean replace,
      boolean needed,
      int permissions,
      int storageClass,
      long token,
      long wanted,
      Utf8 path,
      Utf8 host,
      SmallValue value,
      Ahead ahead) {
    /** Without space that was given ahead, or is to be. */
    public Request(
        NodeType type,
        boolean enumerable,
        boolean strict,
        boolean replace,
        boolean needed,
        int permissions,
        int storageClass,
        long token,
        long wanted,
        Utf8 path,
        Utf8 host,
        SmallValue value) {
      this(
          type,
          enumerable,
          strict,
          replace,
          needed,
          permissions,
          storageClass,
          token,
          wanted,
          path,
          host,
          value,
          Ahead.NONE);
    }

    /** Without space and value. */
    public Request(
        NodeType type,
        boolean enumerable,
        boolean strict,
        boolean replace,
        int permissions,
        int storageClass,
        long token,
        Utf8 path,
        Utf8 host) {
      this(
          type,
          enumerable,
          strict,
          replace,
          false,
          permissions,
          storageClass,
          token,
          0,
          path,
          host,
          SmallValue.NONE);
    }

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Create.Request")
            .u8("type", "node type")
            .u8("enumerable", "whether the node appears in listings; 0 or 1")
            .u8("strict", "whether its space comes from its storage class only; 0 or 1")
            .u8("replace", "whether it takes the place of a node with bytes; 0 or 1")
            .u8("needed", "with a token: whether it fails without space for wanted; 0 or 1")
            .u16("permissions", "permission bits, 0 to 07777")
            .i32("storageClass", "storage class, or -1 for the parent's")
            .i64("token", "not 0: the write lease that the creator takes on a node with bytes")
            .i64(
                "wanted",
                "bytes that are written next, with a token; or all bytes, where ahead says; or 0")
            .struct("ahead", Ahead.CODEC)
            .u16("pathLength", "bytes of path")
            .u16("hostLength", "bytes of host")
            .u16("valueLength", "bytes of value")
            .bytes(
                "path", "pathLength", 1, NodePath.MAX_LENGTH, "the path, in the form of NodePath")
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
                "all bytes of a key-value; kept, or as if they were not there");

    /** Offset of the node type. */
    public static final int TYPE = LAYOUT.offset("type");

    /** Offset of whether the node appears in listings. */
    public static final int ENUMERABLE = LAYOUT.offset("enumerable");

    /** Offset of whether its space comes from its class only. */
    public static final int STRICT = LAYOUT.offset("strict");

    /** Offset of whether it takes the place of another. */
    public static final int REPLACE = LAYOUT.offset("replace");

    /** Offset of whether space is needed. */
    public static final int NEEDED = LAYOUT.offset("needed");

    /** Offset of the permission bits. */
    public static final int PERMISSIONS = LAYOUT.offset("permissions");

    /** Offset of the storage class. */
    public static final int STORAGE_CLASS = LAYOUT.offset("storageClass");

    /** Offset of the token. */
    public static final int TOKEN = LAYOUT.offset("token");

    /** Offset of the bytes that are wanted. */
    public static final int WANTED = LAYOUT.offset("wanted");

    /** Offset of space that was given ahead, or is to be. */
    public static final int AHEAD = LAYOUT.offset("ahead");

    /** Offset of the number of path bytes. */
    public static final int PATH_LENGTH = LAYOUT.offset("pathLength");

    /** Offset of the number of host bytes. */
    public static final int HOST_LENGTH = LAYOUT.offset("hostLength");

    /** Offset of the number of value bytes. */
    public static final int VALUE_LENGTH = LAYOUT.offset("valueLength");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(Request.class, LAYOUT) {
          @Override
          public int length(Request message) {
            return LAYOUT.fixedLength()
                + message.path.length()
                + message.host.length()
                + message.value.length();
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.put(offset + TYPE, (byte) message.type.number());
            out.put(offset + REPLACE, (byte) (message.replace ? 1 : 0));
            message.ahead.encode(out, offset + AHEAD);
            int at =
                encodeFields(
                    out,
                    offset,
                    message.enumerable,
                    message.strict,
                    message.needed,
                    message.permissions,
                    message.storageClass,
                    message.token,
                    message.wanted,
                    message.path,
                    message.host,
                    message.value.length());
            message.value.copyTo(out, at);
          }

          @Override
          public Request read(ByteBuffer in, int offset) throws CrailException {
            int at = offset + LAYOUT.fixedLength();
            int pathLength = in.getShort(offset + PATH_LENGTH) & 0xffff;
            Utf8 path = Utf8.copyOf(in, at, pathLength);
            at += pathLength;
            int hostLength = in.getShort(offset + HOST_LENGTH) & 0xffff;
            Utf8 host = Utf8.copyOf(in, at, hostLength);
            at += hostLength;
            int valueLength = in.getShort(offset + VALUE_LENGTH) & 0xffff;
            SmallValue value = SmallValue.copyOf(in, at, valueLength);
            return new Request(
                NodeType.of(in.get(offset + TYPE) & 0xff),
                in.get(offset + ENUMERABLE) != 0,
                in.get(offset + STRICT) != 0,
                in.get(offset + REPLACE) != 0,
                in.get(offset + NEEDED) != 0,
                in.getShort(offset + PERMISSIONS) & 0xffff,
                in.getInt(offset + STORAGE_CLASS),
                in.getLong(offset + TOKEN),
                in.getLong(offset + WANTED),
                path,
                host,
                value,
                Ahead.read(in, offset + AHEAD));
          }
        };

    /** Writes all but type, replacement, what is ahead, and value; gives where that begins. */
    private static int encodeFields(
        ByteBuffer out,
        int offset,
        boolean enumerable,
        boolean strict,
        boolean needed,
        int permissions,
        int storageClass,
        long token,
        long wanted,
        Utf8 path,
        Utf8 host,
        int valueLength) {
      out.put(offset + ENUMERABLE, (byte) (enumerable ? 1 : 0));
      out.put(offset + STRICT, (byte) (strict ? 1 : 0));
      out.put(offset + NEEDED, (byte) (needed ? 1 : 0));
      out.putShort(offset + PERMISSIONS, (short) permissions);
      out.putInt(offset + STORAGE_CLASS, storageClass);
      out.putLong(offset + TOKEN, token);
      out.putLong(offset + WANTED, wanted);
      out.putShort(offset + PATH_LENGTH, (short) path.length());
      out.putShort(offset + HOST_LENGTH, (short) host.length());
      out.putShort(offset + VALUE_LENGTH, (short) valueLength);
      int at = offset + LAYOUT.fixedLength();
      path.copyTo(out, at);
      at += path.length();
      host.copyTo(out, at);
      return at + host.length();
    }
  }

  /**
   * The request of a put, written from where the value lies.
   *
   * @param enumerable whether the value appears in listings
   * @param strict whether its space comes from its storage class only
   * @param permissions twelve permission bits
   * @param storageClass storage class, or -1 for the parent's
   * @param token the write lease, should the value not be kept; 0 for a value of no bytes
   * @param path the path, in the form of NodePath
   * @param host as in {@link Request}
   * @param memory holds the value
   * @param from where it begins
   * @param length its bytes
   * @param carried whether they go with the request
   */
  public record Put(
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
    /** Bytes of the request. */
    public int encodedLength() {
      return Request.LAYOUT.fixedLength() + path.length() + host.length() + (carried ? length : 0);
    }

    /**
     * Writes the request.
     *
     * @param ahead the space given ahead for the value, and what is to be given
     */
    public void encode(ByteBuffer out, int offset, Ahead ahead) {
      out.put(offset + Request.TYPE, (byte) NodeType.KEYVALUE.number());
      out.put(offset + Request.REPLACE, (byte) 0);
      ahead.encode(out, offset + Request.AHEAD);
      int at =
          Request.encodeFields(
              out,
              offset,
              enumerable,
              strict,
              length > 0,
              permissions,
              storageClass,
              token,
              length,
              path,
              host,
              carried ? length : 0);
      if (carried) {
        // Somebody may have moved the limit of the memory meanwhile.
        ByteBuffer bytes = memory.limit() < from + length ? memory.duplicate().clear() : memory;
        out.put(at, bytes, from, length);
      }
    }
  }

  /**
   * The answer.
   *
   * @param node the new node; it has bytes if those of the request were kept, or lie where it said,
   *     and no lease then
   * @param extents its first extent, if one was wanted and there is space
   * @param given space for another one, which a later create can name
   */
  public record Response(NodeInfo node, List<Extent> extents, List<Given> given) {
    /** Without space for another one. */
    public Response(NodeInfo node, List<Extent> extents) {
      this(node, extents, List.of());
    }

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Create.Response")
            .struct("node", NodeInfo.CODEC)
            .u16("extentsCount", "number of extents")
            .u16("givenCount", "number of extents for other values")
            .list("extents", "extentsCount", Extent.CODEC, MAX_EXTENTS)
            .list("given", "givenCount", Given.CODEC, MAX_GIVEN);

    /** Offset of the node. */
    public static final int NODE = LAYOUT.offset("node");

    /** Offset of the number of extents. */
    public static final int EXTENTS_COUNT = LAYOUT.offset("extentsCount");

    /** Offset of the number of extents that are given ahead. */
    public static final int GIVEN_COUNT = LAYOUT.offset("givenCount");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(Response.class, LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength()
                + message.extents.size() * Extent.LAYOUT.fixedLength()
                + message.given.size() * Given.LAYOUT.fixedLength();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            message.node.encode(out, offset + NODE);
            out.putShort(offset + EXTENTS_COUNT, (short) message.extents.size());
            out.putShort(offset + GIVEN_COUNT, (short) message.given.size());
            int at = offset + LAYOUT.fixedLength();
            Extent.encodeAll(message.extents, out, at);
            at += message.extents.size() * Extent.LAYOUT.fixedLength();
            if (!message.given.isEmpty()) {
              Given.CODEC.encode(message.given.get(0), out, at);
            }
          }

          @Override
          public Response read(ByteBuffer in, int offset) throws CrailException {
            int extentsCount = in.getShort(offset + EXTENTS_COUNT) & 0xffff;
            boolean isGiven = in.getShort(offset + GIVEN_COUNT) != 0;
            int at = offset + LAYOUT.fixedLength();
            List<Extent> extents = Extent.readAll(in, at, extentsCount);
            at += extentsCount * Extent.LAYOUT.fixedLength();
            return new Response(
                NodeInfo.read(in, offset + NODE),
                extents,
                isGiven ? List.of(Given.CODEC.read(in, at)) : List.of());
          }
        };
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.SpreadPath;
import io.crail.protocol.part.TextLimits;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Creates a node. In a table, and elsewhere if the request asks for it, the new node atomically
 * replaces an existing one.
 */
public final class Create {
  /** Most extents in an answer. */
  public static final int MAX_EXTENTS = 1;

  /** Storage class: the parent's. */
  public static final int PARENT_CLASS = -1;

  /** Host: the parent's. */
  public static final Utf8 PARENT_HOST = Utf8.of("*");

  private Create() {}

  /**
   * The request.
   *
   * @param type node type
   * @param enumerable whether the node appears in listings
   * @param strict whether its space may come only from its storage class
   * @param replace whether a node with bytes replaces an existing one; in a table it always does
   * @param permissions twelve permission bits
   * @param storageClass storage class, or -1 for the parent's
   * @param token if not 0, the write lease that the creator takes on a node with bytes
   * @param wanted bytes that a creator with a lease will write at once; the first extent for them
   *     is allocated if there is space; 0 for none
   * @param path the path, in the form of NodePath or SpreadPath
   * @param host host on which its space should be: empty for any, * for the parent's
   */
  public record Request(
      NodeType type,
      boolean enumerable,
      boolean strict,
      boolean replace,
      int permissions,
      int storageClass,
      long token,
      long wanted,
      Utf8 path,
      Utf8 host) {
    /** Creates a request that asks for no space. */
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
      this(type, enumerable, strict, replace, permissions, storageClass, token, 0, path, host);
    }

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Create.Request")
            .struct("type", NodeType.CODEC)
            .u8("enumerable", "whether the node appears in listings; 0 or 1")
            .u8("strict", "whether its space comes from its storage class only; 0 or 1")
            .u8("replace", "whether it takes the place of a node with bytes; 0 or 1")
            .u16("permissions", "permission bits, 0 to 07777")
            .i32("storageClass", "storage class, or -1 for the parent's")
            .i64("token", "not 0: the write lease that the creator takes on a node with bytes")
            .i64("wanted", "bytes that are written next, with a token; or 0")
            .u16("pathLength", "bytes of path")
            .u16("hostLength", "bytes of host")
            .bytes("path", "pathLength", 1, SpreadPath.MAX_LENGTH, SpreadPath.MEANING)
            .bytes(
                "host",
                "hostLength",
                0,
                TextLimits.HOST,
                "host that its space should be on: empty for any, or * for the parent's");

    /** Offset of the node type. */
    public static final int TYPE = LAYOUT.offset("type");

    /** Offset of whether the node appears in listings. */
    public static final int ENUMERABLE = LAYOUT.offset("enumerable");

    /** Offset of whether its space may come only from its class. */
    public static final int STRICT = LAYOUT.offset("strict");

    /** Offset of whether it replaces an existing node. */
    public static final int REPLACE = LAYOUT.offset("replace");

    /** Offset of the permission bits. */
    public static final int PERMISSIONS = LAYOUT.offset("permissions");

    /** Offset of the storage class. */
    public static final int STORAGE_CLASS = LAYOUT.offset("storageClass");

    /** Offset of the token. */
    public static final int TOKEN = LAYOUT.offset("token");

    /** Offset of the bytes that are wanted. */
    public static final int WANTED = LAYOUT.offset("wanted");

    /** Offset of the number of path bytes. */
    public static final int PATH_LENGTH = LAYOUT.offset("pathLength");

    /** Offset of the number of host bytes. */
    public static final int HOST_LENGTH = LAYOUT.offset("hostLength");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** The same request with its path in another form. */
    public Request by(UnaryOperator<Utf8> form) {
      return new Request(
          type,
          enumerable,
          strict,
          replace,
          permissions,
          storageClass,
          token,
          wanted,
          form.apply(path),
          host);
    }
  }

  /**
   * The answer.
   *
   * @param node the new node
   * @param extents its first extent, if one was wanted and there was space
   */
  public record Response(NodeInfo node, List<Extent> extents) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Create.Response")
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
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}

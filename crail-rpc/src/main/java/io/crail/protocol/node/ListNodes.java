/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import java.util.List;

/**
 * Lists a container's enumerable children, a page at a time. Changes during the listing do not
 * disturb its order.
 */
public final class ListNodes {
  /** Most entries in an answer. */
  public static final int MAX_ENTRIES = 1024;

  /** The greatest total length of the entries of an answer, in bytes. */
  public static final int MAX_ENTRIES_LENGTH = 60_000;

  private ListNodes() {}

  /**
   * The request.
   *
   * @param id node id of the container
   * @param cursor 0 for the first page, later the cursor from the page before
   * @param maxEntries most entries in the answer
   */
  public record Request(long id, long cursor, int maxEntries) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListNodes.Request")
            .i64("id", "node id of the container")
            .i64("cursor", "0 for the first page, then what the last page gave")
            .u16("maxEntries", "most entries in the answer");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /** A child: its description and its name. */
  public record Entry(NodeInfo node, Utf8 name) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListNodes.Entry")
            .struct("node", NodeInfo.CODEC)
            .u8("nameLength", "bytes of name")
            .bytes("name", "nameLength", 1, NodePath.MAX_COMPONENT_LENGTH, "the child's name");

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + name.length();
    }

    /** The codec. */
    public static final Codec<Entry> CODEC = Codec.of(Entry.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param next cursor of the next page, or -1
   * @param entries the children of this page
   */
  public record Response(long next, List<Entry> entries) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListNodes.Response")
            .i64("next", "cursor of the next page, or -1")
            .u16("entryCount", "number of entries")
            .u16("entriesLength", "bytes of entries")
            .page("entries", "entryCount", "entriesLength", Entry.CODEC, MAX_ENTRIES_LENGTH);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}

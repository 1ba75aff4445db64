/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Lists a container's enumerable children, a page at a time, in an order that changes do not
 * disturb.
 */
public final class ListNodes {
  /** Most entries in an answer. */
  public static final int MAX_ENTRIES = 1024;

  /** Most bytes that all entries of an answer have together. */
  public static final int MAX_ENTRIES_LENGTH = 60_000;

  private ListNodes() {}

  /**
   * The request.
   *
   * @param id node id of the container
   * @param cursor 0 for the first page, then what the last page gave
   * @param maxEntries most entries in the answer
   */
  public record Request(long id, long cursor, int maxEntries) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListNodes.Request")
            .i64("id", "node id of the container")
            .i64("cursor", "0 for the first page, then what the last page gave")
            .u16("maxEntries", "most entries in the answer");

    static final int ID = LAYOUT.offset("id");
    static final int CURSOR = LAYOUT.offset("cursor");
    static final int MAX_ENTRIES = LAYOUT.offset("maxEntries");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + ID, message.id);
            out.putLong(offset + CURSOR, message.cursor);
            out.putShort(offset + MAX_ENTRIES, (short) message.maxEntries);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(
                in.getLong(offset + ID),
                in.getLong(offset + CURSOR),
                in.getShort(offset + MAX_ENTRIES) & 0xffff);
          }
        };
  }

  /** A child: what the namenode tells of it, and its name. */
  public record Entry(NodeInfo node, Utf8 name) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListNodes.Entry")
            .struct("node", NodeInfo.LAYOUT)
            .u8("nameLength", "bytes of name")
            .bytes("name", "nameLength", 1, NodePath.MAX_COMPONENT_LENGTH, "the child's name");

    private static final int NAME_LENGTH = LAYOUT.offset("nameLength");

    /** Bytes of this on the wire. */
    public int wireLength() {
      return LAYOUT.fixedLength() + name.length();
    }

    void encode(ByteBuffer out, int offset) {
      node.encode(out, offset);
      out.put(offset + NAME_LENGTH, (byte) name.length());
      name.copyTo(out, offset + LAYOUT.fixedLength());
    }
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
            .bytes(
                "entries",
                "entriesLength",
                0,
                MAX_ENTRIES_LENGTH,
                "entries, each a ListNodes.Entry");

    private static final int NEXT = LAYOUT.offset("next");
    private static final int ENTRY_COUNT = LAYOUT.offset("entryCount");
    private static final int ENTRIES_LENGTH = LAYOUT.offset("entriesLength");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + entriesLength(message);
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putLong(offset + NEXT, message.next);
            out.putShort(offset + ENTRY_COUNT, (short) message.entries.size());
            out.putShort(offset + ENTRIES_LENGTH, (short) entriesLength(message));
            int at = offset + LAYOUT.fixedLength();
            for (Entry entry : message.entries) {
              entry.encode(out, at);
              at += entry.wireLength();
            }
          }

          @Override
          protected Response read(ByteBuffer in, int offset) throws CrailException {
            int count = in.getShort(offset + ENTRY_COUNT) & 0xffff;
            int at = offset + LAYOUT.fixedLength();
            int end = at + (in.getShort(offset + ENTRIES_LENGTH) & 0xffff);
            List<Entry> entries = new ArrayList<>(Math.min(count, MAX_ENTRIES));
            for (int i = 0; i < count; i++) {
              int left = end - at;
              int nameLength =
                  left < Entry.LAYOUT.fixedLength() ? 0 : in.get(at + Entry.NAME_LENGTH) & 0xff;
              int length = Math.min(left, Entry.LAYOUT.fixedLength() + nameLength);
              Entry.LAYOUT.check(in, at, length);
              entries.add(
                  new Entry(
                      NodeInfo.read(in, at),
                      Utf8.copyOf(in, at + Entry.LAYOUT.fixedLength(), nameLength)));
              at += length;
            }
            if (at != end) {
              throw ErrorCode.PROTOCOL.exception(
                  "ListNodes.Response has bytes behind its last entry");
            }
            return new Response(in.getLong(offset + NEXT), List.copyOf(entries));
          }
        };

    private static int entriesLength(Response message) {
      int length = 0;
      for (Entry entry : message.entries) {
        length += entry.wireLength();
      }
      return length;
    }
  }
}

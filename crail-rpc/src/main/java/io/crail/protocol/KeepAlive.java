/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;

/** Tells that a datanode lives. */
public final class KeepAlive {
  private KeepAlive() {}

  /**
   * The request.
   *
   * @param datanode datanode id
   */
  public record Request(int datanode) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("KeepAlive.Request").i32("datanode", "datanode id");

    static final int DATANODE = LAYOUT.offset("datanode");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putInt(offset + DATANODE, message.datanode);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getInt(offset + DATANODE));
          }
        };
  }

  /**
   * The answer.
   *
   * @param stop whether the datanode has been removed and may end
   * @param freeBlocks its blocks that are wholly free at this namenode
   * @param totalBlocks its blocks at this namenode
   */
  public record Response(boolean stop, long freeBlocks, long totalBlocks) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("KeepAlive.Response")
            .u8("stop", "whether the datanode has been removed and may end; 0 or 1")
            .i64("freeBlocks", "its blocks that are wholly free at this namenode")
            .i64("totalBlocks", "its blocks at this namenode");

    static final int STOP = LAYOUT.offset("stop");
    static final int FREE_BLOCKS = LAYOUT.offset("freeBlocks");
    static final int TOTAL_BLOCKS = LAYOUT.offset("totalBlocks");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.put(offset + STOP, (byte) (message.stop ? 1 : 0));
            out.putLong(offset + FREE_BLOCKS, message.freeBlocks);
            out.putLong(offset + TOTAL_BLOCKS, message.totalBlocks);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            return new Response(
                in.get(offset + STOP) != 0,
                in.getLong(offset + FREE_BLOCKS),
                in.getLong(offset + TOTAL_BLOCKS));
          }
        };
  }
}

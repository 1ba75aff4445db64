/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells that a datanode lives, and which clients it is to cut off: to end whatever they have begun
 * there, so that nothing of it changes a byte from then on. The answer is the same until the
 * datanode has said that it is done.
 */
public final class KeepAlive {
  /** Most clients that an answer names. */
  public static final int MAX_CLIENTS = 1024;

  private KeepAlive() {}

  /**
   * The request.
   *
   * @param datanode datanode id
   * @param cutOff number of the last answer whose clients are cut off; 0 for none
   */
  public record Request(int datanode, long cutOff) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("KeepAlive.Request")
            .i32("datanode", "datanode id")
            .i64("cutOff", "number of the last answer whose clients are cut off; 0 for none");

    static final int DATANODE = LAYOUT.offset("datanode");
    static final int CUT_OFF = LAYOUT.offset("cutOff");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putInt(offset + DATANODE, message.datanode);
            out.putLong(offset + CUT_OFF, message.cutOff);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getInt(offset + DATANODE), in.getLong(offset + CUT_OFF));
          }
        };
  }

  /**
   * The answer.
   *
   * @param stop whether the datanode has been removed and may end
   * @param freeBlocks its blocks that are wholly free at this namenode
   * @param totalBlocks its blocks at this namenode
   * @param cutOff number of this answer's clients, larger than that of other ones before; 0 when
   *     there are none
   * @param clients those to cut off
   */
  public record Response(
      boolean stop, long freeBlocks, long totalBlocks, long cutOff, List<Long> clients) {
    private static final Layout CLIENT = Layout.of("Client id").i64("id", "client id");

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("KeepAlive.Response")
            .u8("stop", "whether the datanode has been removed and may end; 0 or 1")
            .i64("freeBlocks", "its blocks that are wholly free at this namenode")
            .i64("totalBlocks", "its blocks at this namenode")
            .i64("cutOff", "number of this answer's clients; 0 when there are none")
            .u16("clientCount", "number of clients")
            .list("clients", "clientCount", CLIENT, MAX_CLIENTS);

    static final int STOP = LAYOUT.offset("stop");
    static final int FREE_BLOCKS = LAYOUT.offset("freeBlocks");
    static final int TOTAL_BLOCKS = LAYOUT.offset("totalBlocks");
    static final int CUT_OFF = LAYOUT.offset("cutOff");
    static final int CLIENT_COUNT = LAYOUT.offset("clientCount");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + message.clients.size() * CLIENT.fixedLength();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.put(offset + STOP, (byte) (message.stop ? 1 : 0));
            out.putLong(offset + FREE_BLOCKS, message.freeBlocks);
            out.putLong(offset + TOTAL_BLOCKS, message.totalBlocks);
            out.putLong(offset + CUT_OFF, message.cutOff);
            out.putShort(offset + CLIENT_COUNT, (short) message.clients.size());
            int at = offset + LAYOUT.fixedLength();
            for (long client : message.clients) {
              out.putLong(at, client);
              at += CLIENT.fixedLength();
            }
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int count = in.getShort(offset + CLIENT_COUNT) & 0xffff;
            List<Long> clients = new ArrayList<>(count);
            int at = offset + LAYOUT.fixedLength();
            for (int i = 0; i < count; i++) {
              clients.add(in.getLong(at));
              at += CLIENT.fixedLength();
            }
            return new Response(
                in.get(offset + STOP) != 0,
                in.getLong(offset + FREE_BLOCKS),
                in.getLong(offset + TOTAL_BLOCKS),
                in.getLong(offset + CUT_OFF),
                List.copyOf(clients));
          }
        };
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Lists datanode ids in ascending order. */
public final class ListDatanodes {
  /** Most ids in an answer. */
  public static final int MAX_IDS = 4096;

  private ListDatanodes() {}

  /**
   * The request.
   *
   * @param after -1, or the last id of the page before
   */
  public record Request(int after) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListDatanodes.Request").i32("after", "-1, or the last id of the page before");

    static final int AFTER = LAYOUT.offset("after");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putInt(offset + AFTER, message.after);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(in.getInt(offset + AFTER));
          }
        };
  }

  /**
   * The answer.
   *
   * @param ids ids above {@code after}; none at the end
   */
  public record Response(List<Integer> ids) {
    private static final Layout ID = Layout.of("Datanode id").i32("id", "datanode id");

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("ListDatanodes.Response")
            .u16("idCount", "number of ids")
            .list("ids", "idCount", ID, MAX_IDS);

    private static final int ID_COUNT = LAYOUT.offset("idCount");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + message.ids.size() * ID.fixedLength();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putShort(offset + ID_COUNT, (short) message.ids.size());
            for (int i = 0; i < message.ids.size(); i++) {
              out.putInt(offset + LAYOUT.fixedLength() + i * ID.fixedLength(), message.ids.get(i));
            }
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int count = in.getShort(offset + ID_COUNT) & 0xffff;
            List<Integer> ids = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
              ids.add(in.getInt(offset + LAYOUT.fixedLength() + i * ID.fixedLength()));
            }
            return new Response(List.copyOf(ids));
          }
        };
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Utf8;
import java.nio.ByteBuffer;

/** Takes no more space from a datanode; it may end when its last extent is free. */
public final class RemoveDatanode {
  private RemoveDatanode() {}

  /**
   * The request.
   *
   * @param port port of the datanode
   * @param host host of the datanode as it registered
   */
  public record Request(int port, Utf8 host) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RemoveDatanode.Request")
            .i32("port", "port of the datanode")
            .u16("hostLength", "bytes of host")
            .bytes(
                "host", "hostLength", 1, TextLimits.HOST, "host of the datanode as it registered");

    static final int PORT = LAYOUT.offset("port");
    static final int HOST_LENGTH = LAYOUT.offset("hostLength");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Request message) {
            return LAYOUT.fixedLength() + message.host.length();
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putInt(offset + PORT, message.port);
            out.putShort(offset + HOST_LENGTH, (short) message.host.length());
            int at = offset + LAYOUT.fixedLength();
            message.host.copyTo(out, at);
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int hostLength = in.getShort(offset + HOST_LENGTH) & 0xffff;
            Utf8 host = Utf8.copyOf(in, at, hostLength);
            return new Request(in.getInt(offset + PORT), host);
          }
        };
  }

  /**
   * The answer.
   *
   * @param datanode datanode id
   * @param usedBytes bytes that are still in use on it
   */
  public record Response(int datanode, long usedBytes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RemoveDatanode.Response")
            .i32("datanode", "datanode id")
            .i64("usedBytes", "bytes that are still in use on it");

    static final int DATANODE = LAYOUT.offset("datanode");
    static final int USED_BYTES = LAYOUT.offset("usedBytes");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putInt(offset + DATANODE, message.datanode);
            out.putLong(offset + USED_BYTES, message.usedBytes);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            return new Response(in.getInt(offset + DATANODE), in.getLong(offset + USED_BYTES));
          }
        };
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.protocol.Codec;
import io.crail.protocol.Layout;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * The first exchange of a data connection: the client says which datanode process it expects, so
 * that a restarted one, whose regions are empty, is never taken for it.
 */
public final class DataHello {
  /** The first bytes of a request: "CRDN" in little-endian order. */
  public static final int MAGIC = 0x4e445243;

  private DataHello() {}

  /**
   * The request.
   *
   * @param magic always DataHello.MAGIC
   * @param minVersion lowest protocol version of the client
   * @param maxVersion highest protocol version of the client
   * @param uuid identity of the expected datanode process
   */
  public record Request(int magic, int minVersion, int maxVersion, UUID uuid) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DataHello.Request")
            .i32("magic", "always DataHello.MAGIC")
            .u8("minVersion", "lowest protocol version of the client")
            .u8("maxVersion", "highest protocol version of the client")
            .i64("uuidHigh", "identity of the expected datanode process, upper half")
            .i64("uuidLow", "identity of the expected datanode process, lower half");

    private static final int MAGIC_OFFSET = LAYOUT.offset("magic");
    private static final int MIN_VERSION = LAYOUT.offset("minVersion");
    private static final int MAX_VERSION = LAYOUT.offset("maxVersion");
    private static final int UUID_HIGH = LAYOUT.offset("uuidHigh");
    private static final int UUID_LOW = LAYOUT.offset("uuidLow");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putInt(offset + MAGIC_OFFSET, message.magic);
            out.put(offset + MIN_VERSION, (byte) message.minVersion);
            out.put(offset + MAX_VERSION, (byte) message.maxVersion);
            out.putLong(offset + UUID_HIGH, message.uuid.getMostSignificantBits());
            out.putLong(offset + UUID_LOW, message.uuid.getLeastSignificantBits());
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request(
                in.getInt(offset + MAGIC_OFFSET),
                in.get(offset + MIN_VERSION) & 0xff,
                in.get(offset + MAX_VERSION) & 0xff,
                new UUID(in.getLong(offset + UUID_HIGH), in.getLong(offset + UUID_LOW)));
          }
        };
  }

  /**
   * The answer; DATA_LOST in its place when this is another datanode process.
   *
   * @param version the protocol version of this connection
   * @param writeTimeoutMillis how long the data of a write may take to arrive
   */
  public record Response(int version, int writeTimeoutMillis) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DataHello.Response")
            .u8("version", "the protocol version of this connection")
            .i32("writeTimeoutMillis", "how long the data of a write may take to arrive");

    private static final int VERSION = LAYOUT.offset("version");
    private static final int WRITE_TIMEOUT_MILLIS = LAYOUT.offset("writeTimeoutMillis");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.put(offset + VERSION, (byte) message.version);
            out.putInt(offset + WRITE_TIMEOUT_MILLIS, message.writeTimeoutMillis);
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            return new Response(
                in.get(offset + VERSION) & 0xff, in.getInt(offset + WRITE_TIMEOUT_MILLIS));
          }
        };
  }
}

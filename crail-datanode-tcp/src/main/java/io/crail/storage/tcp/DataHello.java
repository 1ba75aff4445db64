/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
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
            .struct("uuid", Codec.UUID, "identity of the expected datanode process");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
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

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}

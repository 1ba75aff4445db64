/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * What both sides tell each other while they connect, as private data of the connection manager:
 * the client says which datanode process it expects, so that a restarted one, whose regions are
 * empty and whose keys may fit by chance, is never taken for it; and who it is, so that the
 * datanode can cut it off when a namenode wants that.
 */
public final class RdmaHello {
  /** The first bytes of a message: "CRDR" in little-endian order. */
  public static final int MAGIC = 0x52445243;

  /** The protocol version. */
  public static final int VERSION = 2;

  private RdmaHello() {}

  /**
   * The client's request.
   *
   * @param magic always RdmaHello.MAGIC
   * @param version protocol version of the client
   * @param uuid identity of the expected datanode process
   * @param clientId who the client is, also to namenodes
   */
  public record Request(int magic, int version, UUID uuid, long clientId) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RdmaHello.Request")
            .i32("magic", "always RdmaHello.MAGIC")
            .i32("version", "protocol version of the client")
            .struct("uuid", Codec.UUID, "identity of the expected datanode process")
            .i64("clientId", "who the client is, also to namenodes");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The datanode's answer, with its acceptance or refusal.
   *
   * @param magic always RdmaHello.MAGIC
   * @param version protocol version of the datanode
   * @param code 0, or the number of the error that is the reason of a refusal
   */
  public record Response(int magic, int version, int code) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RdmaHello.Response")
            .i32("magic", "always RdmaHello.MAGIC")
            .i32("version", "protocol version of the datanode")
            .i32("code", "0, or the number of the error that is the reason of a refusal");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }

  /** The client's private data. */
  static ByteBuffer request(UUID uuid, long clientId) {
    return encode(Request.CODEC, new Request(MAGIC, VERSION, uuid, clientId));
  }

  /** The datanode's private data. */
  static ByteBuffer response(ErrorCode code) {
    return encode(Response.CODEC, new Response(MAGIC, VERSION, code.number()));
  }

  private static <T> ByteBuffer encode(Codec<T> codec, T message) {
    ByteBuffer bytes = ByteBuffer.allocate(codec.length(message)).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(message, bytes, 0);
    return bytes;
  }

  /**
   * Why a datanode refuses a client; OK when it does not.
   *
   * @param privateData what came with the request, which most networks pad with zeros
   */
  static ErrorCode check(ByteBuffer privateData, UUID own) {
    try {
      Request request = decode(Request.CODEC, privateData);
      if (request.magic != MAGIC || request.version != VERSION) {
        return ErrorCode.PROTOCOL;
      }
      return request.uuid.equals(own) ? ErrorCode.OK : ErrorCode.DATA_LOST;
    } catch (CrailException e) {
      return e.code();
    }
  }

  /**
   * Who a client is.
   *
   * @param privateData of a request that {@link #check} has found good
   */
  static long clientId(ByteBuffer privateData) throws CrailException {
    return decode(Request.CODEC, privateData).clientId;
  }

  /**
   * What a peer says with its answer.
   *
   * @param privateData what came with it, or null
   * @return OK for an acceptance, else why it refuses; null when no datanode has said this, for the
   *     connection manager refuses too
   */
  static ErrorCode answer(ByteBuffer privateData) {
    if (privateData == null) {
      return null;
    }
    try {
      Response response = decode(Response.CODEC, privateData);
      if (response.magic != MAGIC) {
        return null;
      }
      return response.version == VERSION ? ErrorCode.of(response.code) : ErrorCode.PROTOCOL;
    } catch (CrailException e) {
      return null;
    }
  }

  private static <T> T decode(Codec<T> codec, ByteBuffer padded) throws CrailException {
    ByteBuffer bytes = padded.slice().order(ByteOrder.LITTLE_ENDIAN);
    int length = Math.min(bytes.remaining(), codec.layout().fixedLength());
    return codec.decode(bytes, 0, length);
  }
}

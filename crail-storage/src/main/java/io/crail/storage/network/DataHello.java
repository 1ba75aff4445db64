/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.rpc.Frame;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * The first messages on a data connection, in every tier. The client names the datanode process
 * that it expects: a restarted process has empty regions, and its keys may fit by chance, so it
 * must never be taken for the expected one. The client also sends its identity, so that the
 * datanode can cut it off when a namenode requires that. A tier sends these as normal messages, or
 * as the private data of a network's connection request, which most networks pad with zeros.
 */
public final class DataHello {
  /** The first bytes of a message: "CRDN" in little-endian order. */
  public static final int MAGIC = 0x4e445243;

  private DataHello() {}

  /**
   * The client's request.
   *
   * @param magic always DataHello.MAGIC
   * @param version protocol version of the client
   * @param uuid identity of the expected datanode process
   * @param clientId the identity of the client, the same as to namenodes
   */
  public record Request(int magic, int version, UUID uuid, long clientId) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DataHello.Request")
            .i32("magic", "always DataHello.MAGIC")
            .i32("version", "protocol version of the client")
            .struct("uuid", Codec.UUID, "identity of the expected datanode process")
            .i64("clientId", "who the client is, also to namenodes");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The datanode's answer, with its acceptance or refusal.
   *
   * @param magic always DataHello.MAGIC
   * @param version protocol version of the datanode
   * @param code 0, or the number of the error because of which the datanode refuses
   */
  public record Response(int magic, int version, int code) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DataHello.Response")
            .i32("magic", "always DataHello.MAGIC")
            .i32("version", "protocol version of the datanode")
            .i32("code", "0, or the number of the error that is the reason of a refusal");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }

  /** A client's request. */
  public static Request request(UUID uuid, long clientId) {
    return new Request(MAGIC, Frame.VERSION, uuid, clientId);
  }

  /** A datanode's answer. */
  public static Response response(ErrorCode code) {
    return new Response(MAGIC, Frame.VERSION, code.number());
  }

  /** A client's request as bytes. */
  public static ByteBuffer requestBytes(UUID uuid, long clientId) {
    return encode(Request.CODEC, request(uuid, clientId));
  }

  /** A datanode's answer as bytes. */
  public static ByteBuffer responseBytes(ErrorCode code) {
    return encode(Response.CODEC, response(code));
  }

  private static <T> ByteBuffer encode(Codec<T> codec, T message) {
    ByteBuffer bytes = ByteBuffer.allocate(codec.length(message)).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(message, bytes, 0);
    return bytes;
  }

  /**
   * The reason why a datanode refuses a client; OK when it does not.
   *
   * @param own identity of the datanode process
   */
  public static ErrorCode check(Request request, UUID own) {
    if (request.magic != MAGIC || request.version != Frame.VERSION) {
      return ErrorCode.PROTOCOL;
    }
    return request.uuid.equals(own) ? ErrorCode.OK : ErrorCode.DATA_LOST;
  }

  /** The same for bytes that may be padded. */
  public static ErrorCode check(ByteBuffer padded, UUID own) {
    try {
      return check(decode(Request.CODEC, padded), own);
    } catch (CrailException e) {
      return e.code();
    }
  }

  /**
   * The identity of a client.
   *
   * @param padded a request that {@link #check(ByteBuffer, UUID)} has found good
   */
  public static long clientId(ByteBuffer padded) throws CrailException {
    return decode(Request.CODEC, padded).clientId;
  }

  /**
   * The meaning of an answer: OK when the datanode accepts, else the reason why it refuses; null
   * when no datanode has sent this.
   */
  public static ErrorCode answer(Response response) {
    if (response.magic != MAGIC) {
      return null;
    }
    return response.version == Frame.VERSION ? ErrorCode.of(response.code) : ErrorCode.PROTOCOL;
  }

  /**
   * The same for bytes that may be padded, and may not come from a datanode: networks refuse too.
   *
   * @param padded the private data of the answer, or null
   */
  public static ErrorCode answer(ByteBuffer padded) {
    try {
      return padded == null ? null : answer(decode(Response.CODEC, padded));
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

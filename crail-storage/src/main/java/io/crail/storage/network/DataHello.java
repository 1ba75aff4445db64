/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.login.ServerLogin;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * The first messages on a data connection, in every tier. The client names the datanode process
 * that it expects: a restarted process has empty regions, and its keys may fit by chance, so it
 * must never be taken for the expected one. The client also sends its identity, so that the
 * datanode can cut it off when a namenode requires that, and the first message of its login; {@link
 * DataLogin} has the datanode's half. A tier sends these as normal messages, or as the private data
 * of a network's connection request, which most networks pad with zeros.
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
   * @param mechanism how the client logs in; 0: it proves nothing
   * @param uuid identity of the expected datanode process
   * @param clientId the identity of the client, the same as to namenodes
   * @param message the first message of the login
   */
  public record Request(
      int magic, int version, int mechanism, UUID uuid, long clientId, SmallValue message) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DataHello.Request")
            .i32("magic", "always DataHello.MAGIC")
            .u8("version", "protocol version of the client")
            .u8("mechanism", "how the client logs in; 0: it proves nothing")
            .u16("messageLength", "bytes of message")
            .struct("uuid", Codec.UUID, "identity of the expected datanode process")
            .i64("clientId", "who the client is, also to namenodes")
            .bytes(
                "message",
                "messageLength",
                0,
                ServerLogin.MAX_MESSAGE,
                "the first message of the login");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The datanode's answer, with its acceptance or refusal.
   *
   * @param magic always DataHello.MAGIC
   * @param version protocol version of the datanode
   * @param more whether the datanode wants another message of the login
   * @param code 0, or the number of the error with which the datanode refuses
   * @param message the datanode's message of the login
   */
  public record Response(int magic, int version, boolean more, int code, SmallValue message) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DataHello.Response")
            .i32("magic", "always DataHello.MAGIC")
            .u8("version", "protocol version of the datanode")
            .u8("more", "1: another message of the login is wanted")
            .u16("messageLength", "bytes of message")
            .i32("code", "0, or the number of the error that is the reason of a refusal")
            .bytes(
                "message",
                "messageLength",
                0,
                ServerLogin.MAX_MESSAGE,
                "the datanode's message of the login");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }

  /** A client's request. */
  public static Request request(UUID uuid, long clientId, ClientLogin login) {
    return new Request(
        MAGIC, Frame.VERSION, login.mechanism(), uuid, clientId, SmallValue.of(login.message()));
  }

  /** The request of a client that proves nothing. */
  public static Request request(UUID uuid, long clientId) {
    return new Request(
        MAGIC, Frame.VERSION, Anybody.CREDENTIALS.mechanism(), uuid, clientId, SmallValue.NONE);
  }

  /** A datanode's answer without a message of the login. */
  public static Response response(ErrorCode code) {
    return new Response(MAGIC, Frame.VERSION, false, code.number(), SmallValue.NONE);
  }

  /** A client's request as bytes. */
  public static ByteBuffer bytes(Request request) {
    return encode(Request.CODEC, request);
  }

  /** A datanode's answer as bytes. */
  public static ByteBuffer bytes(Response response) {
    return encode(Response.CODEC, response);
  }

  private static <T> ByteBuffer encode(Codec<T> codec, T message) {
    ByteBuffer bytes = ByteBuffer.allocate(codec.length(message)).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(message, bytes, 0);
    return bytes;
  }

  /** Reads a request that may be padded. */
  public static Request request(ByteBuffer padded) throws CrailException {
    return decode(Request.CODEC, padded);
  }

  /**
   * The meaning of an answer: OK when the datanode does not refuse, else the reason why it does;
   * null when no datanode has sent this.
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
    Response response = response(padded);
    return response == null ? null : answer(response);
  }

  /** Reads an answer that may be padded; null when no datanode has sent this. */
  public static Response response(ByteBuffer padded) {
    try {
      return padded == null ? null : decode(Response.CODEC, padded);
    } catch (CrailException e) {
      return null;
    }
  }

  private static <T> T decode(Codec<T> codec, ByteBuffer padded) throws CrailException {
    ByteBuffer bytes = padded.slice().order(ByteOrder.LITTLE_ENDIAN);
    int length = Math.min(bytes.remaining(), codec.layout().fixedLength());
    if (bytes.remaining() > length) {
      int tail = bytes.getShort(codec.layout().offset("messageLength")) & 0xffff;
      length = Math.min(bytes.remaining(), length + tail);
    }
    return codec.decode(bytes, 0, length);
  }
}

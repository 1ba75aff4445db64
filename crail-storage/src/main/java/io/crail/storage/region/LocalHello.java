/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.login.ServerLogin;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The messages on the socket of a datanode's directory, see {@link LocalWriters}: one in each
 * direction, with the login of a process of the same host.
 */
final class LocalHello {
  private LocalHello() {}

  /**
   * The first bytes of a connection.
   *
   * @param owner of slots, as in the {@link HazardTable}; never given twice; 0 for a lifeline
   * @param process number of the process, for people
   * @param clientId identity of the client, the same as to namenodes
   * @param mechanism how the client logs in; 0: it proves nothing
   * @param message the message of the login
   */
  record Request(long owner, long process, long clientId, int mechanism, SmallValue message) {
    /** The layout. */
    static final Layout LAYOUT =
        Layout.of("LocalHello.Request")
            .i64("owner", "owner of slots; 0 for a lifeline")
            .i64("process", "number of the process, for people")
            .i64("clientId", "who the client is, also to namenodes")
            .u8("mechanism", "how the client logs in; 0: it proves nothing")
            .u16("messageLength", "bytes of message")
            .bytes(
                "message", "messageLength", 0, ServerLogin.MAX_MESSAGE, "the message of the login");

    /** The codec. */
    static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param code 0, or the number of the error because of which the datanode refuses
   * @param message the datanode's message of the login
   */
  record Response(int code, SmallValue message) {
    /** The layout. */
    static final Layout LAYOUT =
        Layout.of("LocalHello.Response")
            .i32("code", "0, or the number of the error that is the reason of a refusal")
            .u16("messageLength", "bytes of message")
            .bytes(
                "message",
                "messageLength",
                0,
                ServerLogin.MAX_MESSAGE,
                "the datanode's message of the login");

    /** The codec. */
    static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);

    /** Nothing when it accepts this client, else the reason why not. */
    void checkFor(ClientLogin login) throws CrailException {
      if (code != ErrorCode.OK.number()) {
        throw ErrorCode.of(code).exception("the datanode refuses the login");
      }
      login.answered(false, message.bytes());
    }
  }

  /** A message as bytes. */
  static <T> ByteBuffer bytes(Codec<T> codec, T message) {
    ByteBuffer bytes = ByteBuffer.allocate(codec.length(message)).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(message, bytes, 0);
    return bytes;
  }

  /**
   * A message that arrives in pieces.
   *
   * @param <T> the message
   */
  static final class Arriving<T> {
    private final Codec<T> codec;
    private ByteBuffer bytes;

    Arriving(Codec<T> codec) {
      this.codec = codec;
      this.bytes = allocate(codec.layout().fixedLength());
    }

    private static ByteBuffer allocate(int length) {
      return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Where its next bytes go; without room when it is whole. */
    ByteBuffer rest() {
      int fixed = codec.layout().fixedLength();
      if (!bytes.hasRemaining() && bytes.capacity() == fixed) {
        // One that is too long is cut off here, and is no message then.
        int length = bytes.getShort(codec.layout().offset("messageLength")) & 0xffff;
        int tail = Math.min(length, ServerLogin.MAX_MESSAGE);
        if (tail > 0) {
          bytes = allocate(fixed + tail).put(bytes.flip());
        }
      }
      return bytes;
    }

    /**
     * The message, once it is whole.
     *
     * @throws CrailException with {@link ErrorCode#PROTOCOL} when it is none
     */
    T message() throws CrailException {
      return codec.decode(bytes, 0, bytes.capacity());
    }
  }
}

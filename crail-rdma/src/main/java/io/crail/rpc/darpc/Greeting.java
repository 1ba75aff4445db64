/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The data that both ends exchange while they connect, as private data of the connection manager,
 * big-endian:
 *
 * <pre>
 *  0        4          8              12
 * +--------+----------+--------------+-----------------+
 * | magic  | version  | message size | receive depth   |
 * +--------+----------+--------------+-----------------+
 * </pre>
 *
 * A peer that sends something else speaks plain DaRPC. A server that refuses a client sends magic,
 * version and a sentence. Private data arrives padded with zeros.
 *
 * @param messageSize bytes that a receive request can hold, including the header
 * @param receives number of receive requests that are posted
 */
record Greeting(int messageSize, int receives) {
  /** "Crai". */
  static final int MAGIC = 0x43726169;

  static final int VERSION = 1;
  static final int LEAST_MESSAGE_SIZE = 64;
  static final int MOST_MESSAGE_SIZE = 128 * 1024;
  static final int MOST_RECEIVES = 32 * 1024;

  private static final int LENGTH = 16;
  private static final int REFUSAL_HEADER = 8;
  private static final int MAX_REFUSAL_LENGTH = 140;

  /** Encodes this. */
  ByteBuffer encode() {
    return ByteBuffer.allocate(LENGTH)
        .putInt(MAGIC)
        .putInt(VERSION)
        .putInt(messageSize)
        .putInt(receives)
        .flip();
  }

  /**
   * Reads what a peer has sent.
   *
   * @param data big-endian, may be null
   * @return null when the peer is not Crail's
   * @throws CrailException when the peer is Crail's but incompatible
   */
  static Greeting decode(ByteBuffer data) throws CrailException {
    if (!isCrails(data) || data.remaining() < LENGTH) {
      return null;
    }
    int at = data.position();
    int version = data.getInt(at + 4);
    if (version != VERSION) {
      throw ErrorCode.PROTOCOL.exception(
          "messages of version " + version + ", this side speaks version " + VERSION);
    }
    int messageSize = data.getInt(at + 8);
    int receives = data.getInt(at + 12);
    if (messageSize < LEAST_MESSAGE_SIZE
        || messageSize > MOST_MESSAGE_SIZE
        || receives < Credits.LEAST_RECEIVES
        || receives > MOST_RECEIVES) {
      throw ErrorCode.PROTOCOL.exception(
          receives + " receive requests of " + messageSize + " bytes");
    }
    return new Greeting(messageSize, receives);
  }

  /** The bytes of a refusal. */
  static ByteBuffer refusal(String why) {
    byte[] text = why.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, MAX_REFUSAL_LENGTH - REFUSAL_HEADER);
    return ByteBuffer.allocate(REFUSAL_HEADER + length)
        .putInt(MAGIC)
        .putInt(VERSION)
        .put(text, 0, length)
        .flip();
  }

  /** The sentence of a refusal, empty when there is none. */
  static String reason(ByteBuffer data) {
    if (!isCrails(data)) {
      return "";
    }
    byte[] text = new byte[data.remaining() - REFUSAL_HEADER];
    data.get(data.position() + REFUSAL_HEADER, text);
    return new String(text, StandardCharsets.UTF_8).replace("\0", "").strip();
  }

  private static boolean isCrails(ByteBuffer data) {
    return data != null
        && data.remaining() >= REFUSAL_HEADER
        && data.getInt(data.position()) == MAGIC;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;

/**
 * The header of every message, little-endian, 16 bytes:
 *
 * <pre>
 *  0              4      6   7   8                      16
 * +--------------+------+---+---+----------------------+--------
 * | length       | code | v | k | correlation id       | body ...
 * +--------------+------+---+---+----------------------+--------
 * </pre>
 *
 * <ul>
 *   <li>{@code length} (u32): bytes of the whole frame, header included
 *   <li>{@code code} (u16): the opcode in a request, the number of an {@link ErrorCode} in a
 *       response
 *   <li>{@code v} (u8): protocol version, {@link #VERSION}
 *   <li>{@code k} (u8): kind, {@link #KIND_REQUEST} or {@link #KIND_RESPONSE}
 *   <li>{@code correlation id} (u64): chosen by the client, unique among its unanswered requests,
 *       returned unchanged. Its low 16 bits are a slot, which has one unanswered request at most;
 *       the bits above are a number that goes up from request to request. A request that is sent
 *       again has the same id.
 * </ul>
 *
 * A response with an error carries a short UTF-8 detail (path, node id) as its body.
 */
public final class Frame {
  /** The version of the protocol that this build speaks. */
  public static final int VERSION = 15;

  /** Bytes of the header. */
  public static final int HEADER_LENGTH = 16;

  /**
   * The longest frame of the metadata protocol; a longer one ends its connection. A value of 64 KiB
   * fits into it, with all that any message has beside it.
   */
  public static final int MAX_LENGTH = 72 * 1024;

  /** The longest body of the metadata protocol. */
  public static final int MAX_BODY_LENGTH = MAX_LENGTH - HEADER_LENGTH;

  /** The greatest length of the detail in an error response, in bytes. */
  public static final int MAX_DETAIL_LENGTH = 1280;

  /** Value of {@code kind}: a request. */
  public static final int KIND_REQUEST = 0;

  /** Value of {@code kind}: a response. */
  public static final int KIND_RESPONSE = 1;

  /** What an answer in HTTP begins with; far above each length. */
  private static final int HTTP = 'H' | 'T' << 8 | 'T' << 16 | 'P' << 24;

  private static final int LENGTH_OFFSET = 0;
  private static final int CODE_OFFSET = 4;
  private static final int VERSION_OFFSET = 6;
  private static final int KIND_OFFSET = 7;
  private static final int CORRELATION_OFFSET = 8;

  private static final int SLOT_BITS = 16;

  /** The slots that a correlation id can name. */
  static final int MOST_SLOTS = 1 << SLOT_BITS;

  private Frame() {}

  /** The correlation id of the request with a number, in a slot. */
  public static long correlationId(long sequence, int slot) {
    return sequence << SLOT_BITS | slot;
  }

  /** The slot of a correlation id. */
  public static int slot(long correlationId) {
    return (int) correlationId & MOST_SLOTS - 1;
  }

  /** The number of a correlation id. */
  public static long sequence(long correlationId) {
    return correlationId >>> SLOT_BITS;
  }

  /** Writes a header; {@code buffer} must be little-endian. */
  public static void write(
      ByteBuffer buffer, int offset, int length, int code, int kind, long correlationId) {
    buffer.putInt(offset + LENGTH_OFFSET, length);
    // One store for code, version and kind.
    buffer.putInt(offset + CODE_OFFSET, code | VERSION << 16 | kind << 24);
    buffer.putLong(offset + CORRELATION_OFFSET, correlationId);
  }

  /** The length field. */
  public static int length(ByteBuffer buffer, int offset) {
    return buffer.getInt(offset + LENGTH_OFFSET);
  }

  /** The opcode or error number. */
  public static int code(ByteBuffer buffer, int offset) {
    return buffer.getShort(offset + CODE_OFFSET) & 0xffff;
  }

  /** The correlation id. */
  public static long correlationId(ByteBuffer buffer, int offset) {
    return buffer.getLong(offset + CORRELATION_OFFSET);
  }

  /**
   * Checks the part of a header that has arrived.
   *
   * @param available bytes from {@code offset} on
   * @param kind the kind that this side expects
   * @param maxLength the longest frame that this side takes
   * @return the length of the frame, or -1 when not all of it is there yet
   * @throws CrailException when version, kind or length are wrong, as soon as that is visible
   */
  public static int check(ByteBuffer buffer, int offset, int available, int kind, int maxLength)
      throws CrailException {
    if (available < KIND_OFFSET + 1) {
      return -1;
    }
    int length = buffer.getInt(offset + LENGTH_OFFSET);
    int version = buffer.get(offset + VERSION_OFFSET) & 0xff;
    int actualKind = buffer.get(offset + KIND_OFFSET) & 0xff;
    if (length == HTTP) {
      throw ErrorCode.PROTOCOL.exception(
          "the peer speaks HTTP; is that the port of crail.metrics.address, or of a proxy, in place"
              + " of one of crail.namenode.address?");
    }
    if (version != VERSION || actualKind != kind || length < HEADER_LENGTH || length > maxLength) {
      throw ErrorCode.PROTOCOL.exception(
          "bad frame header: length "
              + (length & 0xffffffffL)
              + " (most "
              + maxLength
              + "), version "
              + version
              + " (expected "
              + VERSION
              + "), kind "
              + actualKind
              + " (expected "
              + kind
              + ")");
    }
    return length <= available ? length : -1;
  }
}

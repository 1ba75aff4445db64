/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The layout of protocol data units. Each begins with the same header. Little-endian.
 *
 * <pre>
 *   0 type   1 flags   2 bytes of the header   3 where the data begin, or 0   4 bytes of all, u32
 *
 *   ICReq, ICResp       8 version, u16   10 alignment of data   11 digests   12 limit, u32
 *   CapsuleCmd          8 command, 64 bytes; data
 *   CapsuleResp         8 completion, 16 bytes
 *   H2CData, C2HData    8 command id, u16   10 tag, u16   12 offset, u32   16 bytes, u32; data
 *   R2T                 8 command id, u16   10 tag, u16   12 offset, u32   16 bytes, u32
 *   TermReq             8 reason, u16   10 more, u32
 * </pre>
 *
 * <p>With a header digest, 4 bytes of CRC32C follow the header. With a data digest, 4 bytes follow
 * the data.
 */
public final class Pdu {
  /** Begins a connection: the host's part. */
  public static final int IC_REQUEST = 0x00;

  /** Begins a connection: the controller's part. */
  public static final int IC_RESPONSE = 0x01;

  /** The host ends the connection because of an error. */
  public static final int HOST_TERMINATES = 0x02;

  /** The controller ends the connection because of an error. */
  public static final int CONTROLLER_TERMINATES = 0x03;

  /** A command. */
  public static final int COMMAND = 0x04;

  /** A completion. */
  public static final int RESPONSE = 0x05;

  /** Data to the controller. */
  public static final int DATA_TO_CONTROLLER = 0x06;

  /** Data to the host. */
  public static final int DATA_TO_HOST = 0x07;

  /** The controller is ready for data. */
  public static final int READY = 0x09;

  /** Flag: there is a header digest. */
  public static final int HEADER_DIGEST = 0x01;

  /** Flag: there is a data digest. */
  public static final int DATA_DIGEST = 0x02;

  /** Flag: the last data of a command, or of what {@link #READY} has asked for. */
  public static final int LAST = 0x04;

  /** Flag: the command has succeeded, and no completion follows. */
  public static final int SUCCESS = 0x08;

  /** Bytes that all begin with. */
  public static final int COMMON = 8;

  /** Bytes of the header of ICReq and ICResp. */
  public static final int IC_LENGTH = 128;

  /** Bytes of the header of a command. */
  public static final int COMMAND_LENGTH = 72;

  /** Bytes of the header of a completion. */
  public static final int RESPONSE_LENGTH = 24;

  /** Bytes of the header of data, of R2T and of TermReq. */
  public static final int DATA_LENGTH = 24;

  /** Bytes of a digest. */
  public static final int DIGEST_LENGTH = 4;

  /** The least limit that ICResp may set for the data of one H2CData. */
  public static final int LEAST_DATA = 4096;

  private static final String[] REASONS = {
    "",
    "an invalid field in a header",
    "a sequence error",
    "a wrong header digest",
    "data out of range",
    "a transfer limit",
    "an unsupported parameter"
  };

  private Pdu() {}

  /**
   * Writes the common header.
   *
   * @param dataAt where the data begin, 0 for none
   */
  public static void header(
      ByteBuffer out, int at, int type, int flags, int headerLength, int dataAt, int length) {
    out.put(at, (byte) type);
    out.put(at + 1, (byte) flags);
    out.put(at + 2, (byte) headerLength);
    out.put(at + 3, (byte) dataAt);
    out.putInt(at + 4, length);
  }

  /** Writes what follows the common header in H2CData, C2HData and R2T. */
  public static void data(ByteBuffer out, int at, int command, int tag, int offset, int length) {
    out.putShort(at + 8, (short) command);
    out.putShort(at + 10, (short) tag);
    out.putInt(at + 12, offset);
    out.putInt(at + 16, length);
  }

  /** The command id in H2CData, C2HData and R2T. */
  public static int command(ByteBuffer in, int at) {
    return in.getShort(at + 8) & 0xffff;
  }

  /** The tag in H2CData and R2T. */
  public static int tag(ByteBuffer in, int at) {
    return in.getShort(at + 10) & 0xffff;
  }

  /** The offset in H2CData, C2HData and R2T. */
  public static int offset(ByteBuffer in, int at) {
    return in.getInt(at + 12);
  }

  /** The bytes of data in H2CData, C2HData and R2T. */
  public static int length(ByteBuffer in, int at) {
    return in.getInt(at + 16);
  }

  /** Why a TermReq ends the connection, in words. */
  public static String reason(ByteBuffer in, int at) {
    int reason = in.getShort(at + 8) & 0xffff;
    return reason > 0 && reason < REASONS.length ? REASONS[reason] : "reason " + reason;
  }

  /**
   * The digest of bytes.
   *
   * @param view its position and limit change
   */
  public static int digest(CRC32C crc, ByteBuffer view, int at, int length) {
    crc.reset();
    crc.update(view.limit(at + length).position(at));
    return (int) crc.getValue();
  }
}

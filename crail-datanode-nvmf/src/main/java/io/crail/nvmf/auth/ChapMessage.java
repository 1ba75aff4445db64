/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;

/**
 * The messages of DH-HMAC-CHAP. Little-endian; each begins in the same way:
 *
 * <pre>
 *   0 type   1 message   2 reserved   4 transaction
 *
 *   negotiate   6 secure channel   7 count of protocols, each with
 *               8 protocol   10 count of hashes   11 count of groups   12 hashes   42 groups
 *   challenge   6 hash length   8 hash   9 group   10 length of the public value   12 sequence
 *               16 challenge, public value
 *   reply       6 hash length   8 1: has a challenge   10 length of the public value   12 sequence
 *               16 response, challenge, public value
 *   success 1   6 hash length   8 1: has a response   16 response
 *   success 2   16 bytes in all
 *   failure     6 reason   7 explanation
 * </pre>
 */
final class ChapMessage {
  static final int CHALLENGE = 0x01;
  static final int SUCCESS_1 = 0x03;

  // Explanations of a failure.
  static final int NOTHING = 0;
  static final int FAILED = 1;
  static final int HASH_UNUSABLE = 4;
  static final int GROUP_UNUSABLE = 5;
  static final int INCORRECT_PAYLOAD = 6;
  static final int INCORRECT_MESSAGE = 7;

  /** Bytes of a challenge, a reply and successes before what varies in length. */
  static final int HEAD = 16;

  private static final int TYPE_COMMON = 0x00;
  private static final int TYPE_CHAP = 0x01;
  private static final int NEGOTIATE = 0x00;
  private static final int REPLY = 0x02;
  private static final int SUCCESS_2 = 0x04;
  private static final int FAILURE_1 = 0xf1;
  private static final int FAILURE_2 = 0xf0;
  private static final int PROTOCOL_CHAP = 1;
  private static final int REASON_FAILED = 1;
  private static final int FAILURE_LENGTH = 8;
  private static final int NEGOTIATE_LENGTH = 72;

  private ChapMessage() {}

  private static ByteBuffer begin(int length, int type, int message, int transaction) {
    return ByteBuffer.allocate(length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(0, (byte) type)
        .put(1, (byte) message)
        .putShort(4, (short) transaction);
  }

  /** Offers all hashes and groups that are known here, and no secure channel. */
  static ByteBuffer negotiate(int transaction) {
    ByteBuffer out = begin(NEGOTIATE_LENGTH, TYPE_COMMON, NEGOTIATE, transaction);
    out.put(7, (byte) 1).put(8, (byte) PROTOCOL_CHAP);
    out.put(10, (byte) ChapHash.values().length).put(11, (byte) DhGroup.values().length);
    for (ChapHash each : ChapHash.values()) {
      out.put(12 + each.ordinal(), (byte) each.id());
    }
    for (DhGroup each : DhGroup.values()) {
      out.put(42 + each.ordinal(), (byte) each.id());
    }
    return out;
  }

  /**
   * Answers a challenge.
   *
   * @param challenge what the target has to answer; null when it does not have to
   * @param sequence the number of that challenge, which is then not 0
   */
  static ByteBuffer reply(
      int transaction, byte[] response, byte[] challenge, int sequence, byte[] publicValue) {
    int length = HEAD + 2 * response.length + publicValue.length;
    ByteBuffer out = begin(length, TYPE_CHAP, REPLY, transaction);
    out.put(6, (byte) response.length).put(8, (byte) (challenge == null ? 0 : 1));
    out.putShort(10, (short) publicValue.length).putInt(12, sequence);
    out.put(HEAD, response);
    if (challenge != null) {
      out.put(HEAD + response.length, challenge);
    }
    return out.put(HEAD + 2 * response.length, publicValue);
  }

  static ByteBuffer success2(int transaction) {
    return begin(HEAD, TYPE_CHAP, SUCCESS_2, transaction);
  }

  static ByteBuffer failure2(int transaction, int explanation) {
    ByteBuffer out = begin(FAILURE_LENGTH, TYPE_COMMON, FAILURE_2, transaction);
    return out.put(6, (byte) REASON_FAILED).put(7, (byte) explanation);
  }

  /**
   * Checks which message has arrived.
   *
   * @param in little-endian, with at least {@link #HEAD} bytes
   * @throws ChapException when it is another one, or says that the target refuses
   */
  static void expect(ByteBuffer in, int message, int transaction) throws ChapException {
    int type = in.get(0) & 0xff;
    int arrived = in.get(1) & 0xff;
    if ((in.getShort(4) & 0xffff) == transaction) {
      if (type == TYPE_COMMON && arrived == FAILURE_1) {
        throw new ChapException(ErrorCode.UNSUPPORTED, NOTHING, refusal(message, in.get(7) & 0xff));
      }
      if (type == TYPE_CHAP && arrived == message) {
        return;
      }
    }
    throw new ChapException(
        ErrorCode.PROTOCOL,
        INCORRECT_MESSAGE,
        String.format(
            Locale.ROOT,
            "the target sends message %02x/%02x of transaction %d where %02x/%02x of %d is due",
            type,
            arrived,
            in.getShort(4) & 0xffff,
            TYPE_CHAP,
            message,
            transaction));
  }

  private static String refusal(int expected, int explanation) {
    String words =
        switch (explanation) {
          case FAILED ->
              expected == SUCCESS_1
                  ? "it has another secret for this host than crail.storage.nvmf.secret, or has to"
                      + " prove itself and cannot"
                  : "it has no secret for this host";
          case 2 -> "it does not know DH-HMAC-CHAP";
          case 3 -> "it demands a secure channel";
          case HASH_UNUSABLE -> "it can use no hash that is known here";
          case GROUP_UNUSABLE -> "it can use no Diffie-Hellman group that is known here";
          case INCORRECT_PAYLOAD -> "it does not understand a message of this host";
          case INCORRECT_MESSAGE -> "it expected another message of this host";
          default -> "it says why by an unknown number";
        };
    return "the target refuses the authentication: " + words + " (explanation " + explanation + ")";
  }
}

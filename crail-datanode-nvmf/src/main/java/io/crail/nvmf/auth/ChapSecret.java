/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * A secret of a host or a subsystem, in the form that {@code nvme gen-dhchap-key} writes: {@code
 * DHHC-1:0h:base64:}, where h is the hash by which the key is bound to its owner's name (0: none),
 * and the rest are the key of 32, 48 or 64 bytes and its CRC-32. No method returns it. Immutable.
 */
public final class ChapSecret {
  private static final Pattern FORM =
      Pattern.compile("DHHC-1:0([0-3]):([A-Za-z0-9+/]{40,92}={0,2}):?");
  private static final byte[] PURPOSE = "NVMe-over-Fabrics".getBytes(StandardCharsets.US_ASCII);
  private static final int CRC_LENGTH = 4;

  private final ChapHash hash;
  private final byte[] key;

  private ChapSecret(ChapHash hash, byte[] key) {
    this.hash = hash;
    this.key = key;
  }

  /** Why a text is no secret, without any part of it; null when it is one. */
  public static String problem(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return "must have the form DHHC-1:00:...:, as nvme gen-dhchap-key writes it";
    }
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(matcher.group(2));
    } catch (IllegalArgumentException e) {
      return "has a part that is not Base64";
    }
    int length = bytes.length - CRC_LENGTH;
    if (length != 32 && length != 48 && length != 64) {
      return "has a key of " + length + " bytes, must have 32, 48 or 64";
    }
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, length);
    int stored = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(length);
    return (int) crc.getValue() == stored ? null : "has a wrong checksum: it is mistyped";
  }

  /** Reads a secret that has no {@link #problem}. */
  public static ChapSecret parse(String text) {
    String problem = problem(text);
    if (problem != null) {
      throw new IllegalArgumentException(problem);
    }
    Matcher matcher = FORM.matcher(text);
    matcher.matches();
    byte[] bytes = Base64.getDecoder().decode(matcher.group(2));
    return new ChapSecret(
        ChapHash.of(Integer.parseInt(matcher.group(1))),
        Arrays.copyOf(bytes, bytes.length - CRC_LENGTH));
  }

  /** The key that an owner of this name uses. */
  byte[] key(String nqn) {
    return hash == null
        ? key.clone()
        : hash.hmac(key, nqn.getBytes(StandardCharsets.UTF_8), PURPOSE);
  }

  /** For messages, which must not contain it. */
  @Override
  public String toString() {
    return "(secret)";
  }
}

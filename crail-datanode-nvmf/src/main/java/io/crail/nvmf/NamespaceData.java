/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.Locale;

/**
 * What a controller says about a namespace.
 *
 * @param number its number
 * @param blocks its length in blocks
 * @param blockLength bytes of a block, a power of two
 * @param readOnly whether it is write protected
 * @param id the globally unique id, 32 hexadecimal digits; all zeros when it has none
 */
public record NamespaceData(int number, long blocks, int blockLength, boolean readOnly, String id) {
  private static final int SHORTEST_SHIFT = 9;
  private static final int LONGEST_SHIFT = 16;

  /**
   * Reads the answer to an identify.
   *
   * @throws CrailException with UNSUPPORTED that says why the namespace cannot be used
   */
  public static NamespaceData of(ByteBuffer data, int number) throws CrailException {
    long blocks = data.getLong(0);
    int formatted = data.get(26) & 0xff;
    int index = formatted & 0x0f | (formatted & 0x60) >> 1;
    if (blocks <= 0) {
      throw unusable(number, blocks == 0 ? "does not exist" : "has " + blocks + " blocks");
    }
    int format = data.getInt(128 + 4 * index);
    int shift = format >> 16 & 0xff;
    if ((format & 0xffff) != 0) {
      throw unusable(number, "has " + (format & 0xffff) + " bytes of metadata in each block");
    }
    if (shift < SHORTEST_SHIFT || shift > LONGEST_SHIFT || blocks > Long.MAX_VALUE >> shift) {
      throw unusable(number, "has " + blocks + " blocks of 2^" + shift + " bytes");
    }
    StringBuilder id = new StringBuilder();
    for (int i = 104; i < 120; i++) {
      id.append(String.format(Locale.ROOT, "%02x", data.get(i)));
    }
    return new NamespaceData(number, blocks, 1 << shift, (data.get(99) & 1) != 0, id.toString());
  }

  private static CrailException unusable(int number, String why) {
    return ErrorCode.UNSUPPORTED.exception("namespace " + number + " " + why);
  }

  /**
   * Why this is not what was there before, or null when it is: the same device, in the same format
   * and not shorter.
   */
  public String change(NamespaceData before) {
    String what;
    if (number != before.number || !id.equals(before.id)) {
      what = "is another device: " + id + " in place of " + before.id;
    } else if (blockLength != before.blockLength) {
      what = "has blocks of " + blockLength + " bytes in place of " + before.blockLength;
    } else if (blocks < before.blocks) {
      what = "has shrunk to " + bytes() + " bytes; before it had " + before.bytes();
    } else {
      return null;
    }
    return "namespace " + before.number + " " + what;
  }

  /** Its length in bytes. */
  public long bytes() {
    return blocks * blockLength;
  }
}

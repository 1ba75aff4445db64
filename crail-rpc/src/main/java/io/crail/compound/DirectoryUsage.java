/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The quota of a directory: its limits, and what all that is below it uses. Immutable.
 *
 * @param directory the path of the directory
 * @param bytes bytes of space that files and values have
 * @param bytesLimit the most of them; -1 for any number
 * @param names nodes, without the directory itself
 * @param namesLimit the most of them; -1 for any number
 */
public record DirectoryUsage(
    String directory, long bytes, long bytesLimit, long names, long namesLimit) {
  private static final int NUMBERS = 4 * Long.BYTES;

  /** {@return the form of messages: the four numbers, the lowest byte first, and the path} */
  public byte[] toBytes() {
    byte[] path = directory.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(NUMBERS + path.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(bytes)
        .putLong(bytesLimit)
        .putLong(names)
        .putLong(namesLimit)
        .put(path)
        .array();
  }

  /**
   * Reads the form of messages.
   *
   * @param data from {@link #toBytes}
   * @return what it says
   * @throws CrailException with {@link ErrorCode#PROTOCOL} when it is too short
   */
  public static DirectoryUsage of(byte[] data) throws CrailException {
    if (data.length < NUMBERS) {
      throw ErrorCode.PROTOCOL.exception("the usage of a directory in " + data.length + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    return new DirectoryUsage(
        new String(data, NUMBERS, data.length - NUMBERS, StandardCharsets.UTF_8),
        in.getLong(),
        in.getLong(),
        in.getLong(),
        in.getLong());
  }
}

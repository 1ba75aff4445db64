/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import scala.Tuple2;

/**
 * A row of the sort benchmark: a key of 10 random bytes, and 90 bytes with the number of the row
 * and some filling. Stateless.
 */
final class TeraRow {
  static final int KEY_BYTES = 10;
  static final int VALUE_BYTES = 90;
  static final int BYTES = KEY_BYTES + VALUE_BYTES;

  private static final int NUMBER_DIGITS = 32;
  private static final int FILLING_DIGITS = 12;
  private static final int FILLING_REPEATS = 4;
  private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

  private TeraRow() {}

  /** The row of a number, always the same one. */
  static Tuple2<byte[], byte[]> of(long seed, long number) {
    long high = Mix.of(seed, number);
    long low = Mix.of(high, number);
    byte[] key = new byte[KEY_BYTES];
    for (int i = 0; i < Long.BYTES; i++) {
      key[i] = (byte) (high >>> (8 * i));
    }
    key[8] = (byte) low;
    key[9] = (byte) (low >>> 8);
    return new Tuple2<>(key, value(number, low >>> 16));
  }

  private static byte[] value(long number, long random) {
    byte[] value = new byte[VALUE_BYTES];
    int at = 0;
    value[at++] = 0x00;
    value[at++] = 0x11;
    for (int digit = NUMBER_DIGITS - 1; digit >= 0; digit--) {
      value[at++] = digit >= 16 ? HEX[0] : HEX[(int) (number >>> (4 * digit)) & 15];
    }
    for (int mark = 0x88; mark <= 0xbb; mark += 0x11) {
      value[at++] = (byte) mark;
    }
    for (int digit = 0; digit < FILLING_DIGITS; digit++) {
      byte letter = HEX[(int) (random >>> (4 * digit)) & 15];
      for (int i = 0; i < FILLING_REPEATS; i++) {
        value[at++] = letter;
      }
    }
    for (int mark = 0xcc; mark <= 0xff; mark += 0x11) {
      value[at++] = (byte) mark;
    }
    return value;
  }

  /** A key for people. */
  static String shown(byte[] key) {
    StringBuilder text = new StringBuilder();
    for (byte each : key) {
      text.append(String.format(Locale.ROOT, "%02x", each));
    }
    return text.toString();
  }
}

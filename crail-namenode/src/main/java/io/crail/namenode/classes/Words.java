/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.classes;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.tree.NodeExtras;
import java.nio.charset.StandardCharsets;

/** Arguments as text: words with one space between them. */
record Words(String[] words) {
  static final byte[] NONE = {};

  private static final int MOST_BYTES = 1024;
  private static final int MOST_WORDS = 5;

  static Words of(byte[] input) throws CrailException {
    if (input.length > MOST_BYTES) {
      throw ErrorCode.INVALID_ARGUMENT.exception("words of " + input.length + " bytes");
    }
    return new Words(new String(input, StandardCharsets.UTF_8).split(" ", MOST_WORDS));
  }

  static String text(byte[] value) {
    return value == null ? null : new String(value, StandardCharsets.UTF_8);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] bytes(long number) {
    return NodeExtras.text(number);
  }

  /** The number in an attribute. */
  static long number(byte[] value, long otherwise) throws CrailException {
    return value == null ? otherwise : NodeExtras.number(value);
  }

  String text(int index, String what) throws CrailException {
    if (index >= words.length || words[index].isEmpty()) {
      throw ErrorCode.INVALID_ARGUMENT.exception("no " + what);
    }
    return words[index];
  }

  long number(int index, String what) throws CrailException {
    try {
      return Long.parseLong(text(index, what));
    } catch (NumberFormatException e) {
      throw ErrorCode.INVALID_ARGUMENT.exception("the " + what + " is not a number");
    }
  }

  long positive(int index, String what) throws CrailException {
    long number = number(index, what);
    if (number <= 0 || number > Integer.MAX_VALUE) {
      throw ErrorCode.INVALID_ARGUMENT.exception(what + " " + number);
    }
    return number;
  }
}

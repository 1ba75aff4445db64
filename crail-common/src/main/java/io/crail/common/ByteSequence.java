/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

/** Bytes that are read one by one, wherever they are kept. */
public interface ByteSequence {
  /** The number of bytes. */
  int length();

  /** The byte at {@code index}. */
  byte byteAt(int index);
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.nio.ByteBuffer;

/**
 * Allocates memory whose pages are already present, so that no figure includes their first use.
 * Stateless.
 */
public final class Memory {
  private Memory() {}

  /** Direct memory. Every byte of it has been written. */
  public static ByteBuffer direct(int length) {
    ByteBuffer memory = ByteBuffer.allocateDirect(length);
    for (int i = 0; i < length; i++) {
      memory.put(i, (byte) i);
    }
    return memory;
  }

  /** Memory of the heap with the same bytes. */
  public static byte[] heap(int length) {
    byte[] memory = new byte[length];
    for (int i = 0; i < length; i++) {
      memory[i] = (byte) i;
    }
    return memory;
  }
}

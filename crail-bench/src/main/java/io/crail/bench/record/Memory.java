/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.nio.ByteBuffer;

/** Memory whose pages are there, so that their first use is in no figure. Stateless. */
public final class Memory {
  private Memory() {}

  /** Direct memory, every byte of it written. */
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

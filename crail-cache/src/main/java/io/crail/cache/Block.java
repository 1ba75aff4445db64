/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailBuffer;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A block in memory. Who uses it has pinned it. A block that no one has pinned may be retired, and
 * then its memory has another one. Thread-safe.
 */
final class Block {
  private static final int RETIRED = -1;

  private final CrailBuffer buffer;
  private final ByteBuffer memory;
  private final AtomicInteger pins = new AtomicInteger(1);

  /** Bytes of the content; 0 until they are there. Published by the maps that have the block. */
  private int length;

  /** Creates an empty one, pinned by the caller. */
  Block(CrailBuffer buffer) {
    this.buffer = buffer;
    this.memory = buffer.clear().getByteBuffer();
  }

  /** Pins it; false if it is retired. */
  boolean pin() {
    int count = pins.get();
    while (count != RETIRED) {
      if (pins.compareAndSet(count, count + 1)) {
        return true;
      }
      count = pins.get();
    }
    return false;
  }

  void unpin() {
    pins.decrementAndGet();
  }

  /** Takes it away from all, if no one has pinned it. */
  boolean retire() {
    return pins.compareAndSet(0, RETIRED);
  }

  /** All its memory, for the one who fills it. */
  CrailBuffer empty() {
    return buffer.clear();
  }

  /** As much of its memory as it will have content, for the one who fills it. */
  ByteBuffer room(int bytes) {
    return memory.duplicate().clear().limit(bytes);
  }

  void filled(int bytes) {
    length = bytes;
  }

  /** The content, for the one who puts it. */
  CrailBuffer content() {
    return buffer.clear().limit(length);
  }

  CrailBuffer buffer() {
    return buffer;
  }

  int length() {
    return length;
  }

  /** Copies content. The block is pinned. */
  void copy(int from, byte[] target, int offset, int count) {
    memory.get(from, target, offset, count);
  }

  /** Copies content, and moves the position of the target. The block is pinned. */
  void copy(int from, ByteBuffer target, int count) {
    target.put(target.position(), memory, from, count);
    target.position(target.position() + count);
  }
}

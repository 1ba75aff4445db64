/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.protocol.codec.SmallValue;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The bytes of a small value that an output stream holds back, since they go to the namenode with
 * the close. Changed under the monitor of the stream.
 */
final class HeldValue {
  private final int mostBytes;
  private boolean holding;

  /**
   * All bytes of the value, earlier ones included. Kept while holding, and after that for readers
   * until the bytes are written; else null.
   */
  private volatile byte[] bytes;

  /**
   * Creates it.
   *
   * @param mostBytes most bytes that are held
   * @param holding whether bytes are held from the beginning
   * @param present the present bytes of the value
   */
  HeldValue(int mostBytes, boolean holding, SmallValue present) {
    this.mostBytes = mostBytes;
    this.holding = holding;
    this.bytes = holding ? present.bytes() : null;
  }

  /**
   * Whether the stream holds its bytes back. For the thread that uses the stream, or under its
   * monitor.
   */
  boolean isHolding() {
    return holding;
  }

  /** Whether there is room up to a position. */
  boolean hasRoomTo(long position) {
    return position <= mostBytes;
  }

  /** All bytes, until they are written; else null. By any thread. */
  byte[] bytes() {
    return bytes;
  }

  /** The value, if bytes of it are held beyond a position; else none. */
  SmallValue beyond(long position) {
    return holdsBeyond(position) ? SmallValue.of(bytes) : SmallValue.NONE;
  }

  /** Whether bytes are held beyond a position. */
  boolean holdsBeyond(long position) {
    return holding && bytes.length > position;
  }

  void add(ByteBuffer memory, int offset, int length) {
    byte[] before = bytes;
    byte[] all = Arrays.copyOf(before, before.length + length);
    memory.get(offset, all, before.length, length);
    bytes = all;
  }

  /** Holds nothing back any more: the held bytes are being written. */
  void beginWrite() {
    holding = false;
  }

  /** All up to a position is written. */
  void written(long position) {
    if (bytes != null && !holding && position >= bytes.length) {
      bytes = null;
    }
  }

  /** Holds nothing back any more, and has nothing. */
  void drop() {
    holding = false;
    bytes = null;
  }
}

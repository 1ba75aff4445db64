/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.protocol.codec.SmallValue;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The bytes of a small value that an output stream holds back, since they go to the namenode with
 * the close. They count among those that all streams of the store may hold. Changed under the
 * monitor of the stream.
 */
final class HeldValue {
  private static final int LEAST_CAPACITY = 256;

  private final StreamContext streams;
  private final int mostBytes;
  private boolean holding;

  /**
   * All bytes of the value, earlier ones included, and room for more. Kept while holding, and after
   * that for readers until the bytes are written; else null.
   */
  private volatile byte[] bytes;

  /** Bytes of the value; later than the array that has them. */
  private volatile int length;

  /** Bytes that count among those of all streams. */
  private int counted;

  /**
   * Creates it.
   *
   * @param mostBytes most bytes that are held
   * @param holding whether bytes are held from the beginning
   * @param present the present bytes of the value
   */
  HeldValue(StreamContext streams, int mostBytes, boolean holding, SmallValue present) {
    this.streams = streams;
    this.mostBytes = mostBytes;
    this.holding = holding;
    this.bytes = holding ? present.bytes() : null;
    this.length = holding ? present.length() : 0;
    if (holding && streams.takeHeld(length)) {
      counted = length;
    }
  }

  /**
   * Whether the stream holds its bytes back. For the thread that uses the stream, or under its
   * monitor.
   */
  boolean isHolding() {
    return holding;
  }

  /** Makes room up to a position; false when so many bytes are not to be held. */
  boolean makeRoomTo(long position) {
    if (position > mostBytes) {
      return false;
    }
    int capacity = bytes.length;
    if (position <= capacity) {
      return true;
    }
    int wanted = Math.min(mostBytes, Math.max((int) position, 2 * capacity));
    wanted = Math.max(wanted, Math.min(mostBytes, LEAST_CAPACITY));
    if (!streams.takeHeld(wanted - counted)) {
      return false;
    }
    counted = wanted;
    bytes = Arrays.copyOf(bytes, wanted);
    return true;
  }

  /** A copy of all bytes, until they are written; else null. By any thread. */
  byte[] bytes() {
    int known = length;
    byte[] all = bytes;
    return all == null ? null : Arrays.copyOf(all, known);
  }

  /** The value, if bytes of it are held beyond a position; else none. */
  SmallValue beyond(long position) {
    return holdsBeyond(position) ? SmallValue.of(bytes()) : SmallValue.NONE;
  }

  /** Whether bytes are held beyond a position. */
  boolean holdsBeyond(long position) {
    return holding && length > position;
  }

  /** Adds bytes, for which there is room. */
  void add(ByteBuffer memory, int offset, int count) {
    memory.get(offset, bytes, length, count);
    length += count;
  }

  /** Holds nothing back any more: the held bytes are being written. */
  void beginWrite() {
    holding = false;
  }

  /** All up to a position is written. */
  void written(long position) {
    if (bytes != null && !holding && position >= length) {
      release();
    }
  }

  /** Holds nothing back any more, and has nothing. */
  void drop() {
    holding = false;
    release();
  }

  /** Has no bytes any more, at the end of the stream or before. */
  private void release() {
    bytes = null;
    if (counted > 0) {
      streams.giveHeld(counted);
      counted = 0;
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.range;

import io.crail.common.error.ErrorCode;
import java.io.EOFException;
import java.nio.ByteBuffer;

/** A range that is being read; see {@link RangeReader#begin}. Used by the reader's thread. */
public final class RangeRead {
  /** Ends ranges, and with them what was begun before. */
  @FunctionalInterface
  interface Ender {
    void end(RangeRead range) throws Exception;
  }

  private final Ender reader;
  private final PositionedReader file;
  private final long position;
  private final ByteBuffer target;
  private final int length;

  private boolean ended;

  private boolean late;
  private Exception failure;

  RangeRead(Ender reader, PositionedReader file, long position, ByteBuffer target) {
    this.reader = reader;
    this.file = file;
    this.position = position;
    this.target = target;
    this.length = target.remaining();
  }

  /**
   * Where the range begins in its file.
   *
   * @return the position of its first byte
   */
  public long position() {
    return position;
  }

  /**
   * The memory that the range is read into.
   *
   * @return the buffer that {@code begin} got, with that position and limit
   */
  public ByteBuffer target() {
    return target;
  }

  /**
   * Waits for the bytes, at most until the deadline of the read. An interrupt does not end the wait
   * and stays set. May be called again.
   *
   * @return the target, with the bytes of the range between its position and limit
   * @throws Exception an {@code OutOfRangeException} for a range that begins after the end of the
   *     file, an {@link EOFException} for one that the end cuts, else the error of the read; when
   *     ranges were read as one, each gets the error
   */
  public ByteBuffer get() throws Exception {
    reader.end(this);
    if (failure != null) {
      throw failure;
    }
    return target;
  }

  /**
   * True when {@link #get} has failed by its deadline and bytes may still arrive in the target: its
   * memory must not be used for anything else.
   *
   * @return whether bytes may still arrive
   */
  public boolean isLate() {
    return late;
  }

  PositionedReader file() {
    return file;
  }

  int length() {
    return length;
  }

  long end() {
    return position + length;
  }

  boolean hasEnded() {
    return ended;
  }

  /**
   * Ends with what has arrived.
   *
   * @param from where the bytes are to be copied from; null when they are in the target
   * @param offset of the range in {@code from}
   * @param count bytes that arrived from the range's first one on; may be more, or negative when
   *     the file ends before that
   */
  void arrived(ByteBuffer from, int offset, int count) {
    if (count < length) {
      String range = position + " to " + end() + " of " + file.path();
      failed(
          count < 0
              ? ErrorCode.OUT_OF_RANGE.exception("the range from " + range)
              : new EOFException("the file ends within the range from " + range),
          false);
      return;
    }
    try {
      if (from != null) {
        target.put(target.position(), from, offset, length);
      }
      ended = true;
    } catch (IndexOutOfBoundsException e) {
      // The caller has moved the limit; other ranges are read all the same.
      failed(e, false);
    }
  }

  /** Ends with an error. */
  void failed(Exception cause, boolean bytesMayArrive) {
    failure = cause;
    late = bytesMayArrive;
    ended = true;
  }
}

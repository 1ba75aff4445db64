/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Finds the frames in messages. A frame within one message is passed on in place. A frame that
 * spans several messages is put together first. Not thread-safe.
 */
final class Incoming {
  /** Receives the frames. */
  interface Sink {
    /**
     * A whole frame with a valid header. It stays in place until {@link Messenger#taken}.
     *
     * @param buffer little-endian
     * @return false when no more frames are wanted now
     */
    boolean frame(ByteBuffer buffer, int offset, int length) throws CrailException;

    /**
     * A whole frame that was put together at the beginning of a buffer. The buffer is reused after
     * this call.
     *
     * @return false when it was not taken and must be given again
     */
    boolean together(ByteBuffer buffer, int length) throws CrailException;
  }

  private final SendChunk.Pool pool;
  private final int kind;
  private final boolean spans;
  private final Sink sink;
  private SendChunk chunk;
  private int have;

  /**
   * Creates the input of a connection.
   *
   * @param kind the kind of frames to expect
   * @param spans whether a frame may span several messages
   */
  Incoming(SendChunk.Pool pool, int kind, boolean spans, Sink sink) {
    this.pool = pool;
    this.kind = kind;
    this.spans = spans;
    this.sink = sink;
  }

  /** True when a frame has begun to arrive and is not complete. */
  boolean isPartial() {
    return have > 0;
  }

  /**
   * Takes the content of a message.
   *
   * @return the number of bytes that were taken; the rest must be given again
   * @throws CrailException when the peer breaks the protocol
   * @throws IOException when there is no memory to put a frame together in
   */
  int take(ByteBuffer bytes, int offset, int length) throws IOException {
    int end = offset + length;
    int at = offset;
    while (have > 0 && at < end) {
      int known = have < Frame.HEADER_LENGTH ? Frame.HEADER_LENGTH : Frame.length(chunk.view(), 0);
      int some = Math.min(known - have, end - at);
      chunk.view().put(have, bytes, at, some);
      have += some;
      at += some;
      int frameLength = Frame.check(chunk.view(), 0, have, kind, Frame.MAX_LENGTH);
      if (frameLength >= 0) {
        boolean isTaken = sink.together(chunk.view(), frameLength);
        if (chunk == null) {
          // The receiver of the frame has closed the connection.
          return at - offset;
        }
        if (!isTaken) {
          have -= some;
          return at - some - offset;
        }
        close();
      }
    }
    while (at < end) {
      int frameLength = Frame.check(bytes, at, end - at, kind, Frame.MAX_LENGTH);
      if (frameLength < 0) {
        begin(bytes, at, end - at);
        return length;
      }
      at += frameLength;
      if (!sink.frame(bytes, at - frameLength, frameLength)) {
        break;
      }
    }
    return at - offset;
  }

  private void begin(ByteBuffer bytes, int from, int length) throws IOException {
    if (!spans) {
      throw ErrorCode.PROTOCOL.exception("a frame that does not end with its message");
    }
    chunk = pool.acquire();
    chunk.view().put(0, bytes, from, length);
    have = length;
  }

  /** Gives the memory back. */
  void close() {
    have = 0;
    if (chunk != null) {
      pool.release(chunk);
      chunk = null;
    }
  }
}

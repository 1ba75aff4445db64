/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.rpc.Frame;
import java.nio.ByteBuffer;

/**
 * Defines the meaning of the 4 bytes before each message, how frames are cut into messages, and how
 * many messages may leave. A message is {@code [header i32, big-endian][content]}. Not thread-safe.
 */
abstract class Dialect {
  /** Bytes of the header. */
  static final int HEADER_LENGTH = 4;

  /** The number of messages with content that may leave now. */
  abstract int room();

  /**
   * Cuts the next message from committed frames.
   *
   * @return the number of bytes of the frames that the message takes, at least 1
   */
  abstract int cut(ByteBuffer frames, int from, int to);

  /** The bytes of content of the message that was cut. */
  abstract int contentLength();

  /** Counts the next message as sent. Returns its header. */
  abstract int send();

  /** True when a message without content must be sent. */
  abstract boolean owes();

  /** Counts an incoming message. */
  abstract void received(int header, ByteBuffer bytes, int offset, int length)
      throws CrailException;

  /** Counts receive requests that were posted again. */
  abstract void posted(int count);

  /** True when a frame may continue in the next message. */
  abstract boolean spans();

  /** The longest frame that can be sent. */
  abstract int maxFrameLength();

  /**
   * The dialect between two Crail peers. The contents of all messages in one direction form one
   * stream of frames. The header returns {@link Credits}.
   */
  static final class Stream extends Dialect {
    private final Credits credits;
    private final int most;
    private int length;
    // The remaining bytes of a frame that began in an earlier message.
    private int rest;

    /**
     * Creates the dialect of a connection.
     *
     * @param messageSize bytes that a receive request of the peer can hold
     */
    Stream(Credits credits, int messageSize) {
      this.credits = credits;
      this.most = messageSize - HEADER_LENGTH;
    }

    @Override
    int room() {
      return credits.room();
    }

    @Override
    int cut(ByteBuffer frames, int from, int to) {
      int end = Math.min(to, from + most);
      int at = Math.min(end, from + rest);
      rest -= at - from;
      while (at < end) {
        int frameLength = Frame.length(frames, at);
        if (frameLength > end - at) {
          // A frame that fits into one message begins a new one, so that the peer need not put it
          // together.
          if (frameLength > most) {
            rest = frameLength - (end - at);
            at = end;
          }
          break;
        }
        at += frameLength;
      }
      length = at - from;
      return length;
    }

    @Override
    int contentLength() {
      return length;
    }

    @Override
    int send() {
      return credits.send();
    }

    @Override
    boolean owes() {
      return credits.owes();
    }

    @Override
    void received(int header, ByteBuffer bytes, int offset, int contentLength)
        throws CrailException {
      credits.received(header);
    }

    @Override
    void posted(int count) {
      credits.posted(count);
    }

    @Override
    boolean spans() {
      return true;
    }

    @Override
    int maxFrameLength() {
      return Frame.MAX_LENGTH;
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Where a service writes its responses: straight into the output buffer of the connection, one
 * frame after the other; the transport sends them all with one write. Used only by the thread that
 * owns the connection.
 *
 * <pre>{@code
 * int body = responses.begin(maxBodyLength);
 * responses.buffer().putLong(body, value);
 * responses.end(correlationId, 8);
 * }</pre>
 */
public abstract class ResponseWriter {
  private final HeldAnswers.OfConnection held;
  private ByteBuffer buffer;
  private int position;
  private boolean full;

  /** Creates a writer of a connection that holds no answers. */
  protected ResponseWriter() {
    this(null);
  }

  /**
   * Creates a writer without a buffer; the first {@link #begin} asks for one.
   *
   * @param held what the connection holds back
   */
  protected ResponseWriter(HeldAnswers.OfConnection held) {
    this.held = held;
  }

  /** The current output buffer, little-endian; only absolute access. */
  public final ByteBuffer buffer() {
    return buffer;
  }

  /**
   * Makes room for a response.
   *
   * @param maxBodyLength the most bytes that its body will have
   * @return where the body begins in {@link #buffer()}
   */
  public final int begin(int maxBodyLength) {
    int needed = Frame.HEADER_LENGTH + maxBodyLength;
    if (buffer == null || buffer.capacity() - position < needed) {
      ByteBuffer next = null;
      try {
        next = nextBuffer(position, needed);
      } finally {
        // Also when there is none: the old one is not this writer's any more.
        buffer = next;
        position = 0;
      }
    }
    return position + Frame.HEADER_LENGTH;
  }

  /** Ends the response that was begun, as a success with {@code bodyLength} bytes. */
  public final void end(long correlationId, int bodyLength) {
    end(correlationId, ErrorCode.OK, bodyLength);
  }

  /** Writes a whole response that carries an error. */
  public final void fail(long correlationId, ErrorCode code, String detail) {
    byte[] bytes = detail.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, Frame.MAX_DETAIL_LENGTH);
    int body = begin(length);
    buffer.put(body, bytes, 0, length);
    end(correlationId, code, length);
  }

  /** Ends the response that was begun, with any code. */
  public final void end(long correlationId, ErrorCode code, int bodyLength) {
    int length = Frame.HEADER_LENGTH + bodyLength;
    Frame.write(buffer, position, length, code.number(), Frame.KIND_RESPONSE, correlationId);
    position += length;
  }

  /**
   * Keeps the answer to a request back, until it is released or its time is over. Other requests
   * may be answered before it. Afterwards {@link #isFull} tells whether one more may be held.
   */
  public final void hold(long correlationId, HeldAnswer answer) {
    if (held == null) {
      throw new UnsupportedOperationException("this connection holds no answers");
    }
    held.hold(correlationId, answer, this);
    full |= held.isFull();
  }

  /**
   * True when the answers do not leave and hold as much memory as they may: what else is asked for
   * should be given back. Costs nothing, so it may be looked at before each request.
   */
  public final boolean isFull() {
    return full;
  }

  /**
   * Asked before a request that may take long, some ten microseconds or more: false when others
   * have waited long enough, or when nobody waits for the answer any more. The request and those
   * after it should then be given back. Reads the clock.
   */
  public boolean hasTurn() {
    return true;
  }

  /** Sets what {@link #isFull} tells. */
  protected final void setFull(boolean isFull) {
    full = isFull;
  }

  /** Bytes written to the current buffer since it was given. */
  protected final int written() {
    return position;
  }

  /** Forgets the current buffer, after the transport has taken its bytes. */
  protected final void detach() {
    buffer = null;
    position = 0;
  }

  /**
   * Gives a fresh buffer and takes charge of the old one, also when it fails.
   *
   * @param written bytes in the old buffer, 0 when there is none
   * @param needed least capacity of the new one
   */
  protected abstract ByteBuffer nextBuffer(int written, int needed);
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.reply.Reply;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.LongAdder;

/**
 * Lets a service write its responses straight into the output buffer of the connection, one frame
 * after the other. The transport sends them all with one write. Used only by the thread that owns
 * the connection.
 *
 * <pre>{@code
 * int body = responses.begin(maxBodyLength);
 * responses.buffer().putLong(body, value);
 * responses.end(correlationId, 8);
 * }</pre>
 */
public abstract class ResponseWriter {
  private ByteBuffer buffer;
  private int position;
  private boolean full;
  private LongAdder[] errors;
  private int lastCode;
  private int lastBody;
  private int lastLength;
  private boolean restsBefore;
  private boolean rests;

  /** Creates a writer without a buffer; the first {@link #begin} asks for one. */
  protected ResponseWriter() {}

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
        // Done even if the call fails, since the old buffer does not belong to this writer any
        // more.
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
    if (code != ErrorCode.OK && errors != null) {
      errors[code.number()].increment();
    }
    int length = Frame.HEADER_LENGTH + bodyLength;
    lastCode = code.number();
    lastBody = position + Frame.HEADER_LENGTH;
    lastLength = bodyLength;
    Frame.write(buffer, position, length, lastCode, Frame.KIND_RESPONSE, correlationId);
    position += length;
    restsBefore = rests;
    rests = true;
  }

  /**
   * The response that was just ended says nothing that a change has brought. So it need not wait
   * for a commit, such as a sign of life while the disk is slow.
   */
  public final void restsOnNothing() {
    rests = restsBefore;
  }

  /** Whether the responses since the last call rest on changes, or have to wait as if they did. */
  protected final boolean takeRests(CommitQueue commits) {
    boolean taken = rests || commits.isForAll();
    rests = false;
    restsBefore = false;
    return taken;
  }

  /** Remembers the response that was just ended. */
  public final void remember(Reply reply, long number) {
    reply.answered(number, lastCode, buffer, lastBody, lastLength);
  }

  /** Writes a response that was remembered. */
  public final void repeat(Reply reply, long correlationId) {
    int body = begin(reply.length());
    reply.copyTo(buffer, body);
    end(correlationId, ErrorCode.of(reply.code()), reply.length());
  }

  /**
   * Counts answers with an error from now on.
   *
   * @param byNumber what to add to, by the number of the error's code; null to count no more
   */
  public final void countErrors(LongAdder[] byNumber) {
    errors = byNumber;
  }

  /**
   * True when the answers do not leave and use as much memory as they may. Then the remaining
   * requests should be given back. This costs nothing, so it may be called before each request.
   */
  public final boolean isFull() {
    return full;
  }

  /**
   * Called before a request that may take long, some ten microseconds or more. False when other
   * connections have waited long enough, or when no peer waits for the answer any more. Then the
   * request and those after it should be given back. Reads the clock.
   */
  public boolean hasTurn() {
    return true;
  }

  /** Sets the value of {@link #isFull}. */
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
   * Returns a fresh buffer, and becomes the owner of the old one, even if this fails.
   *
   * @param written bytes in the old buffer, 0 when there is none
   * @param needed least capacity of the new one
   */
  protected abstract ByteBuffer nextBuffer(int written, int needed);
}

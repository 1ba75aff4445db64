/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.nio.ByteBuffer;

/**
 * The requests that arrived in one read (or one poll of a completion queue), in their order. A
 * handler sees many of them at once, so that it can overlap their cache misses. The transport
 * reuses it, so it is valid only during {@link Service#serve}. Not thread-safe.
 */
public final class RequestBatch {
  /** The most requests in a batch; a read that holds more is served in several batches. */
  public static final int CAPACITY = 256;

  /**
   * The most requests or answers that are sent together. When there are more, some leave while the
   * rest is being written, so both ends work at the same time. In a single batch the two ends would
   * work and sleep in turn. This number is large enough for a send to add little cost to each of
   * them.
   */
  public static final int TOGETHER = 64;

  private final int[] opcodes = new int[CAPACITY];
  private final long[] correlationIds = new long[CAPACITY];
  private final int[] bodyOffsets = new int[CAPACITY];
  private final int[] bodyLengths = new int[CAPACITY];
  private Session session;
  private ByteBuffer buffer;
  private int count;

  /** Creates a batch that many connections use in turn, each after a {@link #reset}. */
  public RequestBatch() {}

  /** Creates the batch of one connection. */
  public RequestBatch(Session session) {
    this.session = session;
  }

  /** Empties the batch; the next requests lie in {@code newBuffer}, which is little-endian. */
  public void reset(ByteBuffer newBuffer) {
    this.buffer = newBuffer;
    this.count = 0;
  }

  /** Empties the batch for requests of a connection. */
  public void reset(Session newSession, ByteBuffer newBuffer) {
    this.session = newSession;
    reset(newBuffer);
  }

  /**
   * Gives back the requests from {@code index} on. They have no answer yet, and are offered again
   * in another batch. A service may do this when it learns that answers do not leave, or that other
   * connections have waited long enough.
   */
  public void giveBackFrom(int index) {
    if (index < 0 || index > count) {
      throw new IndexOutOfBoundsException("request " + index + " of " + count);
    }
    count = index;
  }

  /**
   * Keeps the requests that were given back, and drops those before them.
   *
   * @param offered how many requests the batch had when it was offered
   */
  public void dropServed(int offered) {
    int left = offered - count;
    if (left > 0) {
      System.arraycopy(opcodes, count, opcodes, 0, left);
      System.arraycopy(correlationIds, count, correlationIds, 0, left);
      System.arraycopy(bodyOffsets, count, bodyOffsets, 0, left);
      System.arraycopy(bodyLengths, count, bodyLengths, 0, left);
    }
    count = left;
  }

  /** Adds the checked frame at {@code offset}. */
  public void add(int offset, int frameLength) {
    opcodes[count] = Frame.code(buffer, offset);
    correlationIds[count] = Frame.correlationId(buffer, offset);
    bodyOffsets[count] = offset + Frame.HEADER_LENGTH;
    bodyLengths[count] = frameLength - Frame.HEADER_LENGTH;
    count++;
  }

  /** True when no more requests fit. */
  public boolean isFull() {
    return count == CAPACITY;
  }

  /** The connection that the requests came from. */
  public Session session() {
    return session;
  }

  /** The bytes of all requests, little-endian; only absolute access. */
  public ByteBuffer buffer() {
    return buffer;
  }

  /** The number of requests. */
  public int count() {
    return count;
  }

  /** The opcode of request {@code index}. */
  public int opcode(int index) {
    return opcodes[index];
  }

  /** The correlation id of request {@code index}. */
  public long correlationId(int index) {
    return correlationIds[index];
  }

  /** Where the body of request {@code index} begins in {@link #buffer()}. */
  public int bodyOffset(int index) {
    return bodyOffsets[index];
  }

  /** Bytes of the body of request {@code index}. */
  public int bodyLength(int index) {
    return bodyLengths[index];
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Reads through slices of memory that are filled ahead of the reader. Numbers are big-endian. Not
 * thread-safe.
 *
 * <p>The end of the stream is the size of the file as its handle knows it. After {@link
 * CrailNode#refresh()} the stream continues to the new end.
 *
 * <p>All streams of a store share its buffers ({@code crail.cachelimit}). A stream holds memory
 * only for bytes that are read ahead, and less of it when not much is free. A stream that finds
 * none waits for 2 s at most, and then fails with a {@code LimitExceededException}. The memory of a
 * stream that the program drops without a close goes back when the stream is collected.
 */
public abstract class CrailBufferedInputStream extends InputStream {
  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

  private ByteBuffer slice = EMPTY;

  /** For implementations. */
  protected CrailBufferedInputStream() {}

  /**
   * Takes back the slice that this method returned last, and returns the next one.
   *
   * @param wait whether to wait for it
   * @return bytes to read, at least one; null at the end, and when the slice is not filled yet and
   *     {@code wait} is false
   * @throws IOException the error of the read
   */
  protected abstract ByteBuffer nextSlice(boolean wait) throws IOException;

  /** {@return the fewest bytes for which {@link #readStraight} is worth a try} */
  protected int leastStraight() {
    return Integer.MAX_VALUE;
  }

  /**
   * Reads bytes that are in no slice yet directly into {@code target}. Bytes that are already in
   * slices come first. Called when {@link #slice} is empty.
   *
   * @param target receives the bytes
   * @return bytes read; 0 when the bytes have to come through {@link #nextSlice}
   * @throws IOException the error of the read
   */
  protected int readStraight(ByteBuffer target) throws IOException {
    return 0;
  }

  /** Called when the slice was consumed to its end. */
  protected void finished() {}

  /** {@return the slice that is being consumed; it may be empty} */
  protected final ByteBuffer slice() {
    return slice;
  }

  /** Drops the slice, after a change of position. */
  protected final void dropSlice() {
    slice = EMPTY;
  }

  /** True when there is a byte. Waits for it. */
  private boolean more() throws IOException {
    return slice.hasRemaining() || take(nextSlice(true));
  }

  /**
   * Called after bytes were taken from the slice. Until then the stream must not be collected,
   * since its memory would be given to others.
   */
  private void taken() {
    if (slice != EMPTY && !slice.hasRemaining()) {
      finished();
    }
    Reference.reachabilityFence(this);
  }

  private boolean take(ByteBuffer next) {
    slice = next == null ? EMPTY : next;
    return next != null;
  }

  @Override
  public final int read() throws IOException {
    if (!more()) {
      return -1;
    }
    int value = slice.get() & 0xff;
    // Without a look for the end of the slice, which would cost a tenth; the next call finds it.
    Reference.reachabilityFence(this);
    return value;
  }

  @Override
  public final int read(byte[] target) throws IOException {
    return read(target, 0, target.length);
  }

  /**
   * Reads as many bytes as there is room for or the file has left. Waits for them.
   *
   * @return bytes read; -1 at the end
   * @throws InterruptedIOException when the thread is interrupted while it waits; the exception has
   *     the number of bytes that were read before. The next read continues after them
   */
  @Override
  public final int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length >= leastStraight()) {
      return readLarge(ByteBuffer.wrap(target, offset, length));
    }
    int count = 0;
    try {
      while (count < length && more()) {
        int part = Math.min(length - count, slice.remaining());
        slice.get(target, offset + count, part);
        taken();
        count += part;
      }
    } catch (InterruptedIOException e) {
      e.bytesTransferred = count;
      throw e;
    }
    return count == 0 && length > 0 ? -1 : count;
  }

  private int readLarge(ByteBuffer target) throws IOException {
    int begin = target.position();
    try {
      return read(target);
    } catch (InterruptedIOException e) {
      e.bytesTransferred = target.position() - begin;
      throw e;
    }
  }

  /**
   * Reads as many bytes as there is room for or the file has left. Waits for them.
   *
   * @param target receives the bytes; its position moves after them
   * @return bytes read; -1 at the end
   * @throws IOException the error of the read
   */
  public final int read(ByteBuffer target) throws IOException {
    int wanted = target.remaining();
    int count = 0;
    while (count < wanted) {
      if (!slice.hasRemaining() && target.remaining() >= leastStraight() && !target.isReadOnly()) {
        int straight = readStraight(target);
        count += straight;
        if (straight > 0) {
          continue;
        }
      }
      if (!more()) {
        break;
      }
      int part = Math.min(wanted - count, slice.remaining());
      target.put(target.position(), slice, slice.position(), part);
      target.position(target.position() + part);
      slice.position(slice.position() + part);
      taken();
      count += part;
    }
    return count == 0 && wanted > 0 ? -1 : count;
  }

  /**
   * Reads from a position as many bytes as there is room for or the file has left. The position of
   * the stream and its slices stay as they are.
   *
   * @param position of the first byte in the file
   * @param target receives the bytes
   * @param offset where in {@code target} the first byte goes
   * @param length most bytes to read
   * @return bytes read; -1 for a position at or after the end
   * @throws IOException an {@code OutOfRangeException} for a negative position; also for a stream
   *     over a multi-file, which has no positions
   */
  public final int read(long position, byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    return readAt(position, target, offset, length);
  }

  /**
   * Reads from a position. The arguments are checked already.
   *
   * @param position of the first byte in the file
   * @param target receives the bytes
   * @param offset where in {@code target} the first byte goes
   * @param length most bytes to read
   * @return bytes read; -1 for a position at or after the end
   * @throws IOException the error of the read
   */
  protected abstract int readAt(long position, byte[] target, int offset, int length)
      throws IOException;

  /**
   * Reads eight bytes.
   *
   * @return the number
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final double readDouble() throws Exception {
    return Double.longBitsToDouble(readLong());
  }

  /**
   * Reads four bytes.
   *
   * @return the number
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final float readFloat() throws Exception {
    return Float.intBitsToFloat(readInt());
  }

  /**
   * Reads four bytes.
   *
   * @return the number
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final int readInt() throws Exception {
    if (slice.remaining() < Integer.BYTES) {
      return (int) readSplit(Integer.BYTES);
    }
    int value = slice.getInt();
    taken();
    return value;
  }

  /**
   * Reads eight bytes.
   *
   * @return the number
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final long readLong() throws Exception {
    if (slice.remaining() < Long.BYTES) {
      return readSplit(Long.BYTES);
    }
    long value = slice.getLong();
    taken();
    return value;
  }

  /**
   * Reads two bytes.
   *
   * @return the number
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final short readShort() throws Exception {
    if (slice.remaining() < Short.BYTES) {
      return (short) readSplit(Short.BYTES);
    }
    short value = slice.getShort();
    taken();
    return value;
  }

  private long readSplit(int bytes) throws IOException {
    long value = 0;
    for (int i = 0; i < bytes; i++) {
      int next = read();
      if (next < 0) {
        throw new EOFException("the stream ends " + (bytes - i) + " bytes short of a number");
      }
      value = value << Byte.SIZE | next;
    }
    return value;
  }

  /** Skips bytes; fewer when the file ends before. */
  @Override
  public long skip(long count) throws IOException {
    long left = count;
    while (left > 0 && more()) {
      int part = (int) Math.min(left, slice.remaining());
      slice.position(slice.position() + part);
      taken();
      left -= part;
    }
    return Math.max(count, 0) - Math.max(left, 0);
  }

  /**
   * Sets the position.
   *
   * @param position of the next byte
   * @throws IOException an {@code OutOfRangeException} for a position that is negative or after the
   *     end; also for a stream over a multi-file, which has no positions
   */
  public abstract void seek(long position) throws IOException;

  /**
   * {@return the number of bytes that can be read without waiting; 0 at the end, and when the next
   * bytes have not arrived yet}
   *
   * @throws java.io.UncheckedIOException the error of the read that would bring them
   */
  @Override
  public final int available() {
    try {
      if (!slice.hasRemaining()) {
        take(nextSlice(false));
      }
      return slice.remaining();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /**
   * {@return the position of the next byte; for a stream over a multi-file, the number of bytes
   * read so far}
   */
  public abstract long position();

  /** Waits for reads in flight and gives the memory back. */
  @Override
  public abstract void close() throws IOException;
}

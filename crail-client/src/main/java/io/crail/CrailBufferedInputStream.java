/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Reads through slices of memory that are filled ahead of the reader. Numbers are big-endian. Not
 * thread-safe.
 *
 * <p>The end is the size of the file as its handle knows it; after {@link CrailNode#refresh()} the
 * stream goes on after it.
 */
public abstract class CrailBufferedInputStream extends InputStream {
  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

  private ByteBuffer slice = EMPTY;

  /** For implementations. */
  protected CrailBufferedInputStream() {}

  /**
   * Takes back the slice that was given last, and gives the next one.
   *
   * @param wait whether to wait for it
   * @return bytes to read, at least one; null at the end, and when it would have to be waited for
   * @throws IOException the error of the read
   */
  protected abstract ByteBuffer nextSlice(boolean wait) throws IOException;

  /** Fewest bytes for which {@link #readStraight} is worth a try. */
  protected int leastStraight() {
    return Integer.MAX_VALUE;
  }

  /**
   * Reads what is in no slice yet without one between; with what is in slices before that. Called
   * when {@link #slice} is empty.
   *
   * @return bytes read; 0 when they are to come through {@link #nextSlice}
   * @throws IOException the error of the read
   */
  protected int readStraight(ByteBuffer target) throws IOException {
    return 0;
  }

  /** The slice that is being consumed; may be empty. */
  protected final ByteBuffer slice() {
    return slice;
  }

  /** Forgets the slice, after a change of position. */
  protected final void dropSlice() {
    slice = EMPTY;
  }

  /** True when there is a byte; waits for it. */
  private boolean more() throws IOException {
    return slice.hasRemaining() || take(nextSlice(true));
  }

  private boolean take(ByteBuffer next) {
    slice = next == null ? EMPTY : next;
    return next != null;
  }

  @Override
  public final int read() throws IOException {
    return more() ? slice.get() & 0xff : -1;
  }

  @Override
  public final int read(byte[] target) throws IOException {
    return read(target, 0, target.length);
  }

  /**
   * Reads as much as there is room or the file has left, waiting for it; -1 at the end.
   *
   * @throws InterruptedIOException when the thread is interrupted while it waits, with the bytes
   *     that were read before; the next read goes on after them
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

  /** Reads as much as there is room or the file has left, waiting for it; -1 at the end. */
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
      count += part;
    }
    return count == 0 && wanted > 0 ? -1 : count;
  }

  /**
   * Reads from a position, as much as there is room or the file has left; the position of the
   * stream and what was read ahead stay.
   *
   * @return bytes read; -1 for a position at or after the end
   * @throws IOException an {@code OutOfRangeException} for a negative position; for a stream over a
   *     multi-file, that it has no positions
   */
  public final int read(long position, byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    return readAt(position, target, offset, length);
  }

  /** Reads from a position; the arguments are checked. */
  protected abstract int readAt(long position, byte[] target, int offset, int length)
      throws IOException;

  /**
   * Reads eight bytes.
   *
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final double readDouble() throws Exception {
    return Double.longBitsToDouble(readLong());
  }

  /**
   * Reads four bytes.
   *
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final float readFloat() throws Exception {
    return Float.intBitsToFloat(readInt());
  }

  /**
   * Reads four bytes.
   *
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final int readInt() throws Exception {
    return slice.remaining() >= Integer.BYTES ? slice.getInt() : (int) readSplit(Integer.BYTES);
  }

  /**
   * Reads eight bytes.
   *
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final long readLong() throws Exception {
    return slice.remaining() >= Long.BYTES ? slice.getLong() : readSplit(Long.BYTES);
  }

  /**
   * Reads two bytes.
   *
   * @throws Exception an {@link EOFException} when the file has fewer left
   */
  public final short readShort() throws Exception {
    return slice.remaining() >= Short.BYTES ? slice.getShort() : (short) readSplit(Short.BYTES);
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

  /** Skips bytes; fewer at the end. */
  @Override
  public long skip(long count) throws IOException {
    long left = count;
    while (left > 0 && more()) {
      int part = (int) Math.min(left, slice.remaining());
      slice.position(slice.position() + part);
      left -= part;
    }
    return Math.max(count, 0) - Math.max(left, 0);
  }

  /**
   * Sets the position.
   *
   * @throws IOException an {@code OutOfRangeException} for a position that is negative or after the
   *     end; for a stream over a multi-file, that it has no positions
   */
  public abstract void seek(long position) throws IOException;

  /**
   * Bytes that can be read without waiting; 0 also when they have not arrived yet, and at the end.
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

  /** The position of the next byte; for a stream over a multi-file, the bytes read so far. */
  public abstract long position();

  /** Waits for reads in flight and gives the memory back. */
  @Override
  public abstract void close() throws IOException;
}

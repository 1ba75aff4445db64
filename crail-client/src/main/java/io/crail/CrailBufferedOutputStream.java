/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.Future;

/**
 * Appends to a file through slices of memory. A full slice is sent at once, while the next one is
 * filled. The writer waits only when all slices are in flight. Numbers are big-endian. Not
 * thread-safe.
 *
 * <p>{@link #flush} does nothing. Bytes are sent when a slice is full, with {@link #purge}, with
 * {@link #sync} and with {@link #close}. Other clients see them after {@code sync} and {@code
 * close}. An error of an earlier write is thrown by the next call that waits for a write.
 *
 * <p>A stream that has sent all its bytes holds no memory. A stream that the program drops without
 * a close is found when it is collected: then its lease is given back, what was sent becomes
 * visible, and the bytes that were not sent are lost. The store logs the first such stream.
 */
public abstract class CrailBufferedOutputStream extends OutputStream {
  /** For implementations. */
  protected CrailBufferedOutputStream() {}

  /**
   * {@return the slice that is being filled, with room for at least one byte}
   *
   * @throws IOException the error of an earlier write, or that the stream is closed
   */
  protected abstract ByteBuffer room() throws IOException;

  /**
   * Called after bytes were put into the slice of the last {@link #room}.
   *
   * @throws IOException the error of an earlier write
   */
  protected abstract void filled() throws IOException;

  /** {@return the fewest bytes for which {@link #writeStraight} is worth a try} */
  protected int leastStraight() {
    return Integer.MAX_VALUE;
  }

  /**
   * Writes directly from {@code source} and advances its position by the bytes that were taken. Its
   * memory may be in use until {@link #awaitStraight} returns.
   *
   * @param source has the bytes
   * @return false when the bytes have to go through {@link #room}
   * @throws IOException the error of this or an earlier write, or that the stream is closed
   */
  protected boolean writeStraight(ByteBuffer source) throws IOException {
    return false;
  }

  /**
   * Waits until the memory given to {@link #writeStraight} belongs to the caller again.
   *
   * @param written false when another error is being thrown
   * @throws IOException the error of the write
   */
  protected void awaitStraight(boolean written) throws IOException {}

  @Override
  public final void write(int value) throws IOException {
    room().put((byte) value);
    filled();
  }

  @Override
  public final void write(byte[] source) throws IOException {
    write(source, 0, source.length);
  }

  /**
   * Writes bytes, and waits for room.
   *
   * @throws InterruptedIOException when the thread is interrupted while it waits; the exception has
   *     the number of bytes that were written before
   */
  @Override
  public final void write(byte[] source, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, source.length);
    if (length >= leastStraight()) {
      writeLarge(ByteBuffer.wrap(source, offset, length));
      return;
    }
    int done = 0;
    try {
      while (done < length) {
        ByteBuffer slice = room();
        int count = Math.min(length - done, slice.remaining());
        slice.put(source, offset + done, count);
        done += count;
        filled();
      }
    } catch (InterruptedIOException e) {
      e.bytesTransferred = done;
      throw e;
    }
  }

  private void writeLarge(ByteBuffer source) throws IOException {
    int begin = source.position();
    try {
      write(source);
    } catch (InterruptedIOException e) {
      e.bytesTransferred = source.position() - begin;
      throw e;
    }
  }

  /**
   * Writes all that remains in {@code source}, and waits for room.
   *
   * @param source has the bytes; its position moves to its limit
   * @throws IOException the error of this or an earlier write, or that the stream is closed
   */
  public final void write(ByteBuffer source) throws IOException {
    boolean written = false;
    try {
      while (source.hasRemaining()) {
        if (source.remaining() >= leastStraight() && writeStraight(source)) {
          continue;
        }
        ByteBuffer slice = room();
        int count = Math.min(source.remaining(), slice.remaining());
        slice.put(slice.position(), source, source.position(), count);
        slice.position(slice.position() + count);
        source.position(source.position() + count);
        filled();
      }
      written = true;
    } finally {
      awaitStraight(written);
    }
  }

  /**
   * Writes eight bytes.
   *
   * @param value the number
   * @throws Exception the error of an earlier write, or that the stream is closed
   */
  public final void writeDouble(double value) throws Exception {
    writeLong(Double.doubleToRawLongBits(value));
  }

  /**
   * Writes four bytes.
   *
   * @param value the number
   * @throws Exception the error of an earlier write, or that the stream is closed
   */
  public final void writeFloat(float value) throws Exception {
    writeInt(Float.floatToRawIntBits(value));
  }

  /**
   * Writes four bytes.
   *
   * @param value the number
   * @throws Exception the error of an earlier write, or that the stream is closed
   */
  public final void writeInt(int value) throws Exception {
    ByteBuffer slice = room();
    if (slice.remaining() >= Integer.BYTES) {
      slice.putInt(value);
      filled();
    } else {
      writeSplit(value, Integer.BYTES);
    }
  }

  /**
   * Writes eight bytes.
   *
   * @param value the number
   * @throws Exception the error of an earlier write, or that the stream is closed
   */
  public final void writeLong(long value) throws Exception {
    ByteBuffer slice = room();
    if (slice.remaining() >= Long.BYTES) {
      slice.putLong(value);
      filled();
    } else {
      writeSplit(value, Long.BYTES);
    }
  }

  /**
   * Writes two bytes.
   *
   * @param value the number
   * @throws Exception the error of an earlier write, or that the stream is closed
   */
  public final void writeShort(short value) throws Exception {
    ByteBuffer slice = room();
    if (slice.remaining() >= Short.BYTES) {
      slice.putShort(value);
      filled();
    } else {
      writeSplit(value, Short.BYTES);
    }
  }

  private void writeSplit(long value, int bytes) throws IOException {
    for (int shift = (bytes - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      write((int) (value >>> shift));
    }
  }

  /**
   * Sends the bytes that are in memory. The stream can be written to afterwards.
   *
   * @return ends when all bytes written so far are at the datanodes; other clients see them after
   *     {@link #sync}
   * @throws IOException the error of an earlier write
   */
  public abstract Future<CrailResult> purge() throws IOException;

  /**
   * Sends the bytes that are in memory, and makes all bytes written so far visible to other
   * clients.
   *
   * @return ends when other clients see the bytes
   * @throws IOException the error of an earlier write
   */
  public abstract Future<Void> sync() throws IOException;

  /**
   * Sends the bytes that are in memory, waits for all writes, makes them visible to other clients,
   * and gives the write lease back.
   *
   * @throws IOException the first error; the stream is closed even then
   */
  @Override
  public abstract void close() throws IOException;

  /** {@return the position in the file of the first byte that the stream has not sent} */
  public abstract long position();

  /** Does nothing; see {@link #purge} and {@link #sync}. */
  @Override
  public void flush() throws IOException {}

  /**
   * {@return the file}
   *
   * @throws IOException never; programs for Apache Crail expect it
   */
  public abstract CrailNode getFile() throws IOException;
}

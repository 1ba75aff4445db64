/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.memory;

import io.crail.CrailBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A {@link CrailBuffer} over a direct {@link ByteBuffer}. Not thread-safe. */
public class OffHeapBuffer implements CrailBuffer {
  private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

  private final CrailBuffer region;
  private ByteBuffer buffer;

  /**
   * Creates a view.
   *
   * @param region the memory that it was cut from; null when the view is the whole memory
   */
  OffHeapBuffer(ByteBuffer buffer, CrailBuffer region) {
    this.buffer = buffer;
    this.region = region == null ? this : region;
  }

  /**
   * Wraps memory. Position and limit are shared with {@code buffer}, whose byte order becomes
   * big-endian.
   *
   * @param buffer direct memory
   * @return the buffer
   * @throws IllegalArgumentException when the memory is not direct: a transfer cannot use the Java
   *     heap
   */
  public static OffHeapBuffer wrap(ByteBuffer buffer) {
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException(
          "a stream needs direct memory; use ByteBuffer.allocateDirect or"
              + " CrailStore.allocateBuffer");
    }
    return new OffHeapBuffer(buffer.order(ByteOrder.BIG_ENDIAN), null);
  }

  @Override
  public final int capacity() {
    return buffer.capacity();
  }

  @Override
  public final int position() {
    return buffer.position();
  }

  @Override
  public final CrailBuffer position(int position) {
    buffer.position(position);
    return this;
  }

  @Override
  public final int limit() {
    return buffer.limit();
  }

  @Override
  public final CrailBuffer limit(int limit) {
    buffer.limit(limit);
    return this;
  }

  @Override
  public final CrailBuffer clear() {
    buffer.clear();
    return this;
  }

  @Override
  public final CrailBuffer flip() {
    buffer.flip();
    return this;
  }

  @Override
  public final int remaining() {
    return buffer.remaining();
  }

  @Override
  public final boolean hasRemaining() {
    return buffer.hasRemaining();
  }

  @Override
  public final CrailBuffer slice() {
    return cut(buffer.slice());
  }

  /** A view of a part of this memory. */
  OffHeapBuffer cut(ByteBuffer part) {
    return new OffHeapBuffer(part, region);
  }

  /** The program gets a way to the memory that does not end when the buffer is given back. */
  void escapes() {}

  /** Ends all access through this buffer, whose memory may be freed. */
  final void detach() {
    buffer = NOTHING;
  }

  /** The memory, for transfers, which end before it is given back. */
  final ByteBuffer memory() {
    return buffer;
  }

  /** As {@link #getRegion}, for transfers. */
  final CrailBuffer region() {
    return region;
  }

  @Override
  public final long address() {
    escapes();
    return NativeAddress.of(buffer);
  }

  @Override
  public final CrailBuffer getRegion() {
    escapes();
    return region;
  }

  @Override
  public final ByteBuffer getByteBuffer() {
    escapes();
    return buffer;
  }

  @Override
  public final byte get() {
    return buffer.get();
  }

  @Override
  public final ByteBuffer put(byte value) {
    return buffer.put(value);
  }

  @Override
  public final CrailBuffer get(byte[] target, int offset, int length) {
    buffer.get(target, offset, length);
    return this;
  }

  @Override
  public final CrailBuffer put(byte[] source, int offset, int length) {
    buffer.put(source, offset, length);
    return this;
  }

  @Override
  public final CrailBuffer get(byte[] target) {
    buffer.get(target);
    return this;
  }

  @Override
  public final CrailBuffer put(byte[] source) {
    buffer.put(source);
    return this;
  }

  @Override
  public final short getShort() {
    return buffer.getShort();
  }

  @Override
  public final CrailBuffer putShort(short value) {
    buffer.putShort(value);
    return this;
  }

  @Override
  public final int getInt() {
    return buffer.getInt();
  }

  @Override
  public final CrailBuffer putInt(int value) {
    buffer.putInt(value);
    return this;
  }

  @Override
  public final long getLong() {
    return buffer.getLong();
  }

  @Override
  public final CrailBuffer putLong(long value) {
    buffer.putLong(value);
    return this;
  }

  @Override
  public final float getFloat() {
    return buffer.getFloat();
  }

  @Override
  public final CrailBuffer putFloat(float value) {
    buffer.putFloat(value);
    return this;
  }

  @Override
  public final double getDouble() {
    return buffer.getDouble();
  }

  @Override
  public final CrailBuffer putDouble(double value) {
    buffer.putDouble(value);
    return this;
  }

  @Override
  public final CrailBuffer put(ByteBuffer source) {
    buffer.put(source);
    return this;
  }

  @Override
  public final CrailBuffer get(ByteBuffer target) {
    int length = target.remaining();
    if (length > buffer.remaining()) {
      throw new java.nio.BufferUnderflowException();
    }
    target.put(target.position(), buffer, buffer.position(), length);
    target.position(target.position() + length);
    buffer.position(buffer.position() + length);
    return this;
  }

  @Override
  public String toString() {
    return "OffHeapBuffer[position "
        + position()
        + ", limit "
        + limit()
        + ", capacity "
        + capacity()
        + "]";
  }
}

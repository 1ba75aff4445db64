/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.DoubleReleaseError;
import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

/**
 * A buffer that can be pointed at any direct memory, again and again. So a socket receives straight
 * into a region or into the user's memory, and sends from there, without a copy and without an
 * object for each transfer. The memory has another owner and is never freed here.
 *
 * <p>The owner of a window always keeps one reference, and gives another one to the channel with
 * each use. {@link #isIdle} says when the channel has released that reference. Used by one thread
 * at a time.
 */
public class RetargetableBuf extends AbstractReferenceCountedByteBuf {
  private ByteBuffer view = Unpooled.EMPTY_BUFFER.nioBuffer();
  private int end;

  /** Creates a window that points at nothing. */
  public RetargetableBuf() {
    super(Integer.MAX_VALUE);
  }

  /**
   * Points at memory to receive into: nothing is readable, {@code length} bytes are writable.
   *
   * @param newView a view without another user during that time, since its position and limit
   *     change
   */
  public final void toReceive(ByteBuffer newView, int offset, int length) {
    point(newView, offset, length);
    setIndex(offset, offset);
  }

  /** Points at memory to send from: {@code length} bytes are readable. */
  public final void toSend(ByteBuffer newView, int offset, int length) {
    point(newView, offset, length);
    setIndex(offset, offset + length);
  }

  private void point(ByteBuffer newView, int offset, int length) {
    view = newView;
    end = offset + length;
    if (end < offset || end > newView.capacity()) {
      throw new IndexOutOfBoundsException(length + " bytes at " + offset + " of " + newView);
    }
  }

  /** Points at nothing, so that the memory can be freed, unless a channel still holds this. */
  public final void letGo() {
    if (isIdle()) {
      toSend(Unpooled.EMPTY_BUFFER.nioBuffer(), 0, 0);
    }
  }

  /** True when no channel holds this. */
  public final boolean isIdle() {
    return refCnt() == 1;
  }

  @Override
  protected void deallocate() {
    throw new DoubleReleaseError("a window");
  }

  @Override
  public int capacity() {
    return end;
  }

  @Override
  public ByteBuf capacity(int newCapacity) {
    throw new UnsupportedOperationException("a window cannot grow");
  }

  @Override
  public ByteBufAllocator alloc() {
    return UnpooledByteBufAllocator.DEFAULT;
  }

  @Deprecated
  @Override
  public ByteOrder order() {
    return ByteOrder.BIG_ENDIAN;
  }

  @Override
  public ByteBuf unwrap() {
    return null;
  }

  @Override
  public boolean isDirect() {
    return true;
  }

  @Override
  public boolean isContiguous() {
    return true;
  }

  @Override
  public boolean hasArray() {
    return false;
  }

  @Override
  public byte[] array() {
    throw new UnsupportedOperationException("direct memory");
  }

  @Override
  public int arrayOffset() {
    throw new UnsupportedOperationException("direct memory");
  }

  @Override
  public boolean hasMemoryAddress() {
    return false;
  }

  @Override
  public long memoryAddress() {
    throw new UnsupportedOperationException("only through a view");
  }

  @Override
  public int nioBufferCount() {
    return 1;
  }

  @Override
  public ByteBuffer internalNioBuffer(int index, int length) {
    checkIndex(index, length);
    return view.limit(index + length).position(index);
  }

  @Override
  public ByteBuffer nioBuffer(int index, int length) {
    checkIndex(index, length);
    return view.slice(index, length);
  }

  @Override
  public ByteBuffer[] nioBuffers(int index, int length) {
    return new ByteBuffer[] {nioBuffer(index, length)};
  }

  @Override
  public ByteBuf copy(int index, int length) {
    return Unpooled.copiedBuffer(nioBuffer(index, length));
  }

  @Override
  public ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
    dst.setBytes(dstIndex, nioBuffer(index, length));
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, byte[] dst, int dstIndex, int length) {
    nioBuffer(index, length).get(dst, dstIndex, length);
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, ByteBuffer dst) {
    dst.put(nioBuffer(index, dst.remaining()));
    return this;
  }

  @Override
  public ByteBuf getBytes(int index, OutputStream out, int length) throws IOException {
    byte[] bytes = new byte[length];
    getBytes(index, bytes, 0, length);
    out.write(bytes);
    return this;
  }

  @Override
  public int getBytes(int index, GatheringByteChannel out, int length) throws IOException {
    return out.write(internalNioBuffer(index, length));
  }

  @Override
  public int getBytes(int index, FileChannel out, long position, int length) throws IOException {
    return out.write(internalNioBuffer(index, length), position);
  }

  @Override
  public ByteBuf setBytes(int index, ByteBuf src, int srcIndex, int length) {
    src.getBytes(srcIndex, nioBuffer(index, length));
    return this;
  }

  @Override
  public ByteBuf setBytes(int index, byte[] src, int srcIndex, int length) {
    nioBuffer(index, length).put(src, srcIndex, length);
    return this;
  }

  @Override
  public ByteBuf setBytes(int index, ByteBuffer src) {
    nioBuffer(index, src.remaining()).put(src);
    return this;
  }

  @Override
  public int setBytes(int index, InputStream in, int length) throws IOException {
    byte[] bytes = new byte[length];
    int read = in.read(bytes);
    if (read > 0) {
      setBytes(index, bytes, 0, read);
    }
    return read;
  }

  @Override
  public int setBytes(int index, ScatteringByteChannel in, int length) throws IOException {
    try {
      return in.read(internalNioBuffer(index, length));
    } catch (ClosedChannelException e) {
      return -1;
    }
  }

  @Override
  public int setBytes(int index, FileChannel in, long position, int length) throws IOException {
    try {
      return in.read(internalNioBuffer(index, length), position);
    } catch (ClosedChannelException e) {
      return -1;
    }
  }

  @Override
  protected byte _getByte(int index) {
    return view.get(index);
  }

  @Override
  protected short _getShort(int index) {
    return (short) (_getByte(index) << 8 | _getByte(index + 1) & 0xff);
  }

  @Override
  protected short _getShortLE(int index) {
    return Short.reverseBytes(_getShort(index));
  }

  @Override
  protected int _getUnsignedMedium(int index) {
    return (_getByte(index) & 0xff) << 16 | _getShort(index + 1) & 0xffff;
  }

  @Override
  protected int _getUnsignedMediumLE(int index) {
    return _getShortLE(index) & 0xffff | (_getByte(index + 2) & 0xff) << 16;
  }

  @Override
  protected int _getInt(int index) {
    return _getShort(index) << 16 | _getShort(index + 2) & 0xffff;
  }

  @Override
  protected int _getIntLE(int index) {
    return Integer.reverseBytes(_getInt(index));
  }

  @Override
  protected long _getLong(int index) {
    return (long) _getInt(index) << 32 | _getInt(index + 4) & 0xffffffffL;
  }

  @Override
  protected long _getLongLE(int index) {
    return Long.reverseBytes(_getLong(index));
  }

  @Override
  protected void _setByte(int index, int value) {
    view.put(index, (byte) value);
  }

  @Override
  protected void _setShort(int index, int value) {
    _setByte(index, value >> 8);
    _setByte(index + 1, value);
  }

  @Override
  protected void _setShortLE(int index, int value) {
    _setShort(index, Short.reverseBytes((short) value));
  }

  @Override
  protected void _setMedium(int index, int value) {
    _setByte(index, value >> 16);
    _setShort(index + 1, value);
  }

  @Override
  protected void _setMediumLE(int index, int value) {
    _setShortLE(index, value);
    _setByte(index + 2, value >> 16);
  }

  @Override
  protected void _setInt(int index, int value) {
    _setShort(index, value >> 16);
    _setShort(index + 2, value);
  }

  @Override
  protected void _setIntLE(int index, int value) {
    _setInt(index, Integer.reverseBytes(value));
  }

  @Override
  protected void _setLong(int index, long value) {
    _setInt(index, (int) (value >> 32));
    _setInt(index + 4, (int) value);
  }

  @Override
  protected void _setLongLE(int index, long value) {
    _setLong(index, Long.reverseBytes(value));
  }
}

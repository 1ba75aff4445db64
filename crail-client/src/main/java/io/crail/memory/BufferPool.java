/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.memory;

import io.crail.CrailBuffer;
import io.crail.CrailBufferCache;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * Lends buffers of one size. They are cut from larger regions, which are allocated when needed, up
 * to a limit. Thread-safe.
 */
public final class BufferPool implements CrailBufferCache, AutoCloseable {
  private static final long REGION_BYTES = 16L << 20;

  /** A refused allocation has collected all garbage, under the lock; the next one waits so long. */
  private static final long REFUSED_NANOS = 10_000_000_000L;

  private final int bufferBytes;
  private final long limitBytes;
  private final IntFunction<ByteBuffer> allocator;
  private final LongSupplier nanoTime;
  private final LongAdder gets = new LongAdder();
  private final LongAdder puts = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final Object lock = new Object();
  private final ArrayDeque<Slot> free = new ArrayDeque<>();
  private long allocatedBytes;
  private boolean refused;
  private long refusedNanos;
  private boolean closed;

  /** A buffer's place in its region. A slot is lent again and again. */
  private record Slot(ByteBuffer memory, CrailBuffer region) {}

  /** A buffer while it is lent. It is never used again after it was given back. */
  private static final class Lent extends OffHeapBuffer {
    private final BufferPool owner;
    private final Slot slot;

    /** Slices that were cut from it and are not given back. */
    private final AtomicInteger slices = new AtomicInteger();

    /** Guarded by the lock of the pool. */
    private boolean returned;

    Lent(BufferPool owner, Slot slot) {
      super(slot.memory.duplicate(), slot.region);
      this.owner = owner;
      this.slot = slot;
    }

    @Override
    OffHeapBuffer cut(ByteBuffer part) {
      slices.incrementAndGet();
      return new Cut(part, this);
    }
  }

  /** A slice of a lent buffer, which programs for Apache Crail give back in its place. */
  private static final class Cut extends OffHeapBuffer {
    private final Lent whole;

    /** Guarded by the lock of the pool. */
    private boolean returned;

    Cut(ByteBuffer part, Lent whole) {
      super(part, whole.getRegion());
      this.whole = whole;
    }

    @Override
    OffHeapBuffer cut(ByteBuffer part) {
      return whole.cut(part);
    }
  }

  /**
   * Creates a pool without allocating.
   *
   * @param bufferBytes bytes of each buffer
   * @param limitBytes most bytes of all buffers together
   */
  public BufferPool(int bufferBytes, long limitBytes) {
    this(bufferBytes, limitBytes, ByteBuffer::allocateDirect, System::nanoTime);
  }

  /** With memory and a time of its own, for tests. */
  BufferPool(
      int bufferBytes, long limitBytes, IntFunction<ByteBuffer> allocator, LongSupplier nanoTime) {
    this.bufferBytes = bufferBytes;
    this.limitBytes = limitBytes;
    this.allocator = allocator;
    this.nanoTime = nanoTime;
  }

  /** {@return the size of each buffer in bytes} */
  public int bufferBytes() {
    return bufferBytes;
  }

  /** {@return the number of buffers lent so far} */
  public long lentCount() {
    return gets.sum();
  }

  /** {@return the number of buffers given back so far} */
  public long returnedCount() {
    return puts.sum();
  }

  /** {@return how often a region had to be allocated} */
  public long missCount() {
    return misses.sum();
  }

  /** {@return the bytes of all regions} */
  public long allocatedBytes() {
    synchronized (lock) {
      return allocatedBytes;
    }
  }

  @Override
  public CrailBuffer allocateBuffer() throws CrailException {
    Slot slot;
    synchronized (lock) {
      if (closed) {
        throw ErrorCode.CLOSED.exception("buffer pool");
      }
      if (free.isEmpty()) {
        grow();
      }
      slot = free.pop();
    }
    gets.increment();
    return new Lent(this, slot);
  }

  @Override
  public void freeBuffer(CrailBuffer buffer) {
    Cut cut = buffer instanceof Cut ? (Cut) buffer : null;
    if (cut == null && !(buffer instanceof Lent)) {
      return;
    }
    Lent lent = cut != null ? cut.whole : (Lent) buffer;
    if (lent.owner != this) {
      throw new IllegalArgumentException("this buffer was lent by another store");
    }
    synchronized (lock) {
      if (cut != null && !isLastSlice(cut)) {
        return;
      }
      if (lent.returned) {
        throw new IllegalArgumentException("this buffer was given back before");
      }
      lent.returned = true;
      free.push(lent.slot);
    }
    puts.increment();
  }

  /** Notes that a slice is given back. Tells whether its buffer is, too, for that reason. */
  private static boolean isLastSlice(Cut cut) {
    if (cut.returned) {
      return false;
    }
    cut.returned = true;
    return cut.whole.slices.decrementAndGet() == 0 && !cut.whole.returned;
  }

  /**
   * Tells whether a buffer is lent by this pool.
   *
   * @param buffer any buffer
   * @return true for a buffer of this pool
   */
  public boolean lends(CrailBuffer buffer) {
    return buffer instanceof Lent && ((Lent) buffer).owner == this;
  }

  private void grow() throws CrailException {
    long room = limitBytes - allocatedBytes;
    long count = Math.min(room, Math.max(bufferBytes, REGION_BYTES)) / bufferBytes;
    if (count == 0) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "all buffers that crail.cachelimit (" + limitBytes + ") allows are lent");
    }
    if (refused && nanoTime.getAsLong() - refusedNanos < REFUSED_NANOS) {
      throw noMemory();
    }
    ByteBuffer memory;
    try {
      memory = allocator.apply((int) (count * bufferBytes));
    } catch (OutOfMemoryError e) {
      refused = true;
      refusedNanos = nanoTime.getAsLong();
      throw noMemory();
    }
    refused = false;
    misses.increment();
    allocatedBytes += memory.capacity();
    CrailBuffer region = OffHeapBuffer.wrap(memory);
    for (int i = 0; i < count; i++) {
      free.addLast(new Slot(memory.slice(i * bufferBytes, bufferBytes), region));
    }
  }

  private static CrailException noMemory() {
    return ErrorCode.LIMIT_EXCEEDED.exception(
        "no direct memory for buffers; see crail.cachelimit and -XX:MaxDirectMemorySize");
  }

  /** Ends lending. The memory is released when nobody refers to it any more. */
  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      free.clear();
    }
  }
}

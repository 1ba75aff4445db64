/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.memory;

import io.crail.CrailBuffer;
import io.crail.CrailBufferCache;
import io.crail.common.DirectMemory;
import io.crail.common.NativeMemory;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * Lends buffers of one size. They are cut from regions, which are allocated when needed, up to a
 * limit. Thread-safe.
 *
 * <p>{@link #close} frees each region as soon as all its buffers are given back. A buffer cannot be
 * used after that, since it has no memory any more. Only a program that has asked a buffer for its
 * {@link CrailBuffer#getByteBuffer}, address or region, or that keeps a slice, may still have a way
 * to the memory. So such a region goes back when the collector finds that there is none.
 */
public final class BufferPool implements CrailBufferCache, AutoCloseable {
  /** The most bytes of a region. Few large ones are registered with a device in little time. */
  private static final long REGION_BYTES = 16L << 20;

  /** The first region; each further one is as large as all before it together. */
  private static final long FIRST_BYTES = 1L << 20;

  /** A refused allocation has collected all garbage, under the lock; the next one waits so long. */
  private static final long REFUSED_NANOS = 10_000_000_000L;

  private final int bufferBytes;
  private final long limitBytes;
  private final IntFunction<NativeMemory> allocator;
  private final LongSupplier nanoTime;
  private final LongAdder gets = new LongAdder();
  private final LongAdder puts = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final Object lock = new Object();
  private final ArrayDeque<Slot> free = new ArrayDeque<>();
  private final List<Region> regions = new ArrayList<>();
  private long allocatedBytes;
  private long lentBytes;

  /** Most bytes that Java allows this pool; asked for when a second region is needed. */
  private long directBytes = Long.MAX_VALUE;

  private boolean refused;
  private long refusedNanos;
  private boolean closed;

  /** A buffer's place in its region. A slot is lent again and again. */
  private record Slot(ByteBuffer memory, Region region) {}

  /** Memory from which buffers are cut. */
  private static final class Region extends OffHeapBuffer {
    private final NativeMemory memory;

    /** Whether a program may have a way to the memory of its own. */
    private volatile boolean escaped;

    /** Buffers that are lent. Guarded by the lock of the pool. */
    private int lent;

    Region(NativeMemory memory) {
      super(memory.buffer().order(ByteOrder.BIG_ENDIAN), null);
      this.memory = memory;
    }

    @Override
    void escapes() {
      if (!escaped) {
        escaped = true;
      }
    }

    /** Frees the memory, once it can no longer be used. */
    void freeUnused() {
      if (lent == 0 && !escaped) {
        detach();
        memory.free();
      }
    }
  }

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
    void escapes() {
      slot.region.escapes();
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
      super(part, whole.slot.region);
      this.whole = whole;
    }

    @Override
    void escapes() {
      whole.escapes();
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
    this(bufferBytes, limitBytes, NativeMemory::allocate, System::nanoTime);
  }

  /** With memory and a time of its own, for tests. */
  BufferPool(
      int bufferBytes,
      long limitBytes,
      IntFunction<NativeMemory> allocator,
      LongSupplier nanoTime) {
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

  /** {@return the bytes of the buffers that are lent now} */
  public long lentBytes() {
    synchronized (lock) {
      return lentBytes;
    }
  }

  /** {@return the most bytes that all buffers together can have, as far as is known} */
  public long mostBytes() {
    synchronized (lock) {
      return Math.min(limitBytes, directBytes);
    }
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
      slot.region.lent++;
      lentBytes += bufferBytes;
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
      takeBack(lent);
    }
    puts.increment();
  }

  private void takeBack(Lent lent) {
    lent.detach();
    if (lent.slices.get() > 0) {
      lent.escapes();
    }
    Region region = lent.slot.region;
    region.lent--;
    lentBytes -= bufferBytes;
    if (closed) {
      region.freeUnused();
    } else {
      free.push(lent.slot);
    }
  }

  /** Notes that a slice is given back. Returns whether its buffer is, too, for that reason. */
  private static boolean isLastSlice(Cut cut) {
    if (cut.returned) {
      return false;
    }
    cut.returned = true;
    cut.detach();
    return cut.whole.slices.decrementAndGet() == 0 && !cut.whole.returned;
  }

  /**
   * Returns whether a buffer is lent by this pool.
   *
   * @param buffer any buffer
   * @return true for a buffer of this pool
   */
  public boolean lends(CrailBuffer buffer) {
    return buffer instanceof Lent && ((Lent) buffer).owner == this;
  }

  private void grow() throws CrailException {
    if (allocatedBytes > 0 && directBytes == Long.MAX_VALUE) {
      directBytes = DirectMemory.ofBuffers();
    }
    long room = Math.min(limitBytes, directBytes) - allocatedBytes;
    long wanted = Math.min(REGION_BYTES, Math.max(FIRST_BYTES, allocatedBytes));
    long count = Math.min(room, Math.max(bufferBytes, wanted)) / bufferBytes;
    if (count <= 0) {
      throw limitBytes > directBytes
          ? noMemory()
          : ErrorCode.LIMIT_EXCEEDED.exception(
              "all buffers that crail.cachelimit (" + limitBytes + ") allows are lent");
    }
    if (refused && nanoTime.getAsLong() - refusedNanos < REFUSED_NANOS) {
      throw noMemory();
    }
    Region region = allocate((int) count);
    refused = false;
    misses.increment();
    ByteBuffer memory = region.memory();
    allocatedBytes += memory.capacity();
    regions.add(region);
    for (int at = 0; at + bufferBytes <= memory.capacity(); at += bufferBytes) {
      free.addLast(new Slot(memory.slice(at, bufferBytes), region));
    }
  }

  /** A region of so many buffers, or of one when Java has not that much memory. */
  private Region allocate(int count) throws CrailException {
    try {
      return new Region(allocator.apply(count * bufferBytes));
    } catch (OutOfMemoryError e) {
      if (count > 1) {
        return allocate(1);
      }
      refused = true;
      refusedNanos = nanoTime.getAsLong();
      throw noMemory();
    }
  }

  private static CrailException noMemory() {
    return ErrorCode.LIMIT_EXCEEDED.exception(
        "no direct memory for buffers; see crail.cachelimit and -XX:MaxDirectMemorySize");
  }

  /** Ends lending, and frees what is not lent. The rest is freed when it is given back. */
  @Override
  public void close() {
    synchronized (lock) {
      if (!closed) {
        closed = true;
        free.clear();
        regions.forEach(Region::freeUnused);
        regions.clear();
      }
    }
  }
}

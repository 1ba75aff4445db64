/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.common.DirectMemory;
import io.crail.common.NativeMemory;
import io.crail.common.error.ClosedException;
import io.crail.common.error.LimitExceededException;
import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class BufferPoolTest {
  @Test
  void buffersOfOneRegionDoNotOverlap() throws Exception {
    try (BufferPool pool = new BufferPool(4096, 16 * 4096)) {
      List<CrailBuffer> lent = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        CrailBuffer buffer = pool.allocateBuffer();
        while (buffer.hasRemaining()) {
          buffer.put((byte) i);
        }
        lent.add(buffer);
      }
      assertThrows(LimitExceededException.class, pool::allocateBuffer);
      assertEquals(16 * 4096, pool.allocatedBytes());
      assertEquals(1, pool.missCount());
      for (int i = 0; i < 16; i++) {
        CrailBuffer buffer = lent.get(i).flip();
        assertSame(lent.get(0).getRegion(), buffer.getRegion());
        while (buffer.hasRemaining()) {
          assertEquals(i, buffer.get());
        }
        pool.freeBuffer(buffer);
      }
      assertEquals(16, pool.returnedCount());
    }
  }

  /**
   * Java collects all garbage before it refuses memory, so it must not be asked again and again.
   */
  @Test
  void memoryThatIsRefusedIsNotAskedForAtOnce() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    AtomicBoolean full = new AtomicBoolean(true);
    AtomicLong now = new AtomicLong();
    BufferPool pool =
        new BufferPool(
            4096,
            8 * 4096,
            bytes -> {
              asked.incrementAndGet();
              if (full.get()) {
                throw new OutOfMemoryError("as Java says it");
              }
              return NativeMemory.allocate(bytes);
            },
            now::get);
    for (int i = 0; i < 3; i++) {
      assertThrows(LimitExceededException.class, pool::allocateBuffer);
    }
    // All of them, and then one.
    assertEquals(2, asked.get());
    full.set(false);
    now.addAndGet(TimeUnit.SECONDS.toNanos(10));
    assertEquals(4096, pool.allocateBuffer().capacity());
    assertEquals(3, asked.get());
  }

  @Test
  void aBufferIsGivenBackOnceAndToItsOwner() throws Exception {
    BufferPool pool = new BufferPool(4096, 4096);
    BufferPool other = new BufferPool(4096, 4096);
    CrailBuffer first = pool.allocateBuffer();
    assertThrows(IllegalArgumentException.class, () -> other.freeBuffer(first));
    pool.freeBuffer(first);
    CrailBuffer second = pool.allocateBuffer();
    assertNotSame(first, second);
    assertThrows(IllegalArgumentException.class, () -> pool.freeBuffer(first));
    pool.close();
    assertThrows(ClosedException.class, pool::allocateBuffer);
    pool.freeBuffer(second);
  }

  /** Many times what this process may have outside the heap; the collector does nothing here. */
  @Test
  void aClosedPoolFreesItsMemoryAtOnce() throws Exception {
    long rounds = 2 * DirectMemory.mostBytes() / (32 << 20) + 1;
    for (long i = 0; i < rounds; i++) {
      BufferPool pool = new BufferPool(1 << 20, 1L << 30);
      List<CrailBuffer> lent = new ArrayList<>();
      while (pool.allocatedBytes() < 32 << 20) {
        lent.add(pool.allocateBuffer());
      }
      CrailBuffer late = lent.remove(0);
      for (CrailBuffer buffer : lent) {
        pool.freeBuffer(buffer);
      }
      pool.close();
      late.putLong(7).flip();
      assertEquals(7, late.getLong());
      pool.freeBuffer(late);
    }
  }

  @Test
  void aBufferThatWasGivenBackHasNoMemory() throws Exception {
    BufferPool pool = new BufferPool(4096, 4096);
    CrailBuffer lent = pool.allocateBuffer();
    CrailBuffer slice = lent.slice();
    pool.freeBuffer(slice);
    pool.close();
    assertThrows(BufferUnderflowException.class, lent::get);
    assertThrows(BufferUnderflowException.class, slice::get);
  }

  /** The process would end if the memory were freed. */
  @Test
  void memoryThatAProgramMayStillUseIsLeftToTheCollector() throws Exception {
    BufferPool pool = new BufferPool(4 << 20, 16 << 20);
    CrailBuffer first = pool.allocateBuffer();
    ByteBuffer memory = first.getByteBuffer();
    CrailBuffer second = pool.allocateBuffer();
    CrailBuffer region = second.getRegion();
    CrailBuffer third = pool.allocateBuffer();
    CrailBuffer slice = third.slice();
    for (CrailBuffer buffer : List.of(first, second, third)) {
      pool.freeBuffer(buffer);
    }
    pool.close();
    for (int at = 0; at < 4 << 20; at += 4096) {
      assertEquals(0, memory.get(at) + region.position(at).get() + slice.position(at).get());
    }
  }

  /** As programs for Apache Crail do, which gives back what was not lent. */
  @Test
  void memoryThatWasNotLentIsIgnored() throws Exception {
    BufferPool pool = new BufferPool(4096, 4096);
    CrailBuffer lent = pool.allocateBuffer();
    pool.freeBuffer(null);
    pool.freeBuffer(OffHeapBuffer.wrap(ByteBuffer.allocateDirect(4096)));
    pool.freeBuffer(lent.getRegion());
    assertEquals(0, pool.returnedCount());
    assertThrows(LimitExceededException.class, pool::allocateBuffer);
  }

  @Test
  void theLastSliceGivesItsBufferBackOnce() throws Exception {
    BufferPool pool = new BufferPool(4096, 4096);
    CrailBuffer lent = pool.allocateBuffer();
    CrailBuffer first = lent.slice();
    CrailBuffer second = first.slice();
    pool.freeBuffer(first);
    pool.freeBuffer(first);
    assertThrows(LimitExceededException.class, pool::allocateBuffer);
    pool.freeBuffer(second);
    CrailBuffer next = pool.allocateBuffer();
    assertEquals(1, pool.returnedCount());
    // Neither the slices nor the buffer can give back what is lent again now.
    pool.freeBuffer(second);
    assertThrows(IllegalArgumentException.class, () -> pool.freeBuffer(lent));
    assertThrows(LimitExceededException.class, pool::allocateBuffer);
    CrailBuffer slice = next.slice();
    pool.freeBuffer(next);
    pool.freeBuffer(slice);
    pool.allocateBuffer();
    assertThrows(LimitExceededException.class, pool::allocateBuffer);
    assertEquals(2, pool.returnedCount());
  }

  @Test
  void manyThreadsNeverShareABuffer() throws Exception {
    BufferPool pool = new BufferPool(4096, 8 * 4096);
    AtomicReference<Throwable> problem = new AtomicReference<>();
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      int id = t + 1;
      threads[t] =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 5_000; i++) {
                    CrailBuffer buffer = pool.allocateBuffer();
                    buffer.putLong(id * 1_000_000L + i).flip();
                    Thread.onSpinWait();
                    assertEquals(id * 1_000_000L + i, buffer.getLong());
                    pool.freeBuffer(buffer);
                  }
                } catch (Throwable e) {
                  problem.set(e);
                }
              });
      threads[t].start();
    }
    for (Thread thread : threads) {
      thread.join(60_000);
    }
    assertNull(problem.get());
    assertEquals(pool.lentCount(), pool.returnedCount());
  }

  @Test
  void offHeapBuffersAreBigEndianViews() {
    ByteBuffer memory = ByteBuffer.allocateDirect(32).order(ByteOrder.LITTLE_ENDIAN);
    CrailBuffer buffer = OffHeapBuffer.wrap(memory);
    buffer.putInt(0x01020304);
    assertEquals(1, memory.get(0));
    assertEquals(4, memory.position());
    buffer.position(4).limit(12);
    CrailBuffer slice = buffer.slice();
    slice.putLong(-2);
    assertEquals(-2, memory.getLong(4));
    assertThrows(BufferOverflowException.class, () -> slice.putShort((short) 1));
    assertThrows(BufferUnderflowException.class, () -> slice.get(ByteBuffer.allocate(1)));
    assertSame(buffer, slice.getRegion());
    assertSame(buffer, buffer.getRegion());
    assertThrows(IllegalArgumentException.class, () -> OffHeapBuffer.wrap(ByteBuffer.allocate(1)));
    if (Runtime.version().feature() < 22) {
      assertThrows(UnsupportedOperationException.class, slice::address);
    } else {
      assertEquals(buffer.address() + 4, slice.address());
    }
  }

  @Test
  void copiesBetweenBuffers() {
    byte[] bytes = new byte[100];
    new Random(7).nextBytes(bytes);
    CrailBuffer buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(100));
    buffer.put(ByteBuffer.wrap(bytes));
    buffer.flip();
    ByteBuffer target = ByteBuffer.allocate(60);
    buffer.get(target);
    assertEquals(60, buffer.position());
    assertEquals(0, target.remaining());
    byte[] rest = new byte[40];
    buffer.get(rest);
    assertTrue(ByteBuffer.wrap(bytes, 0, 60).equals(target.flip()));
    assertTrue(ByteBuffer.wrap(bytes, 60, 40).equals(ByteBuffer.wrap(rest)));
  }
}

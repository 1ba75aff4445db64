/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBuffer;
import io.crail.client.loop.LoopContext;
import io.crail.client.loop.Loops;
import io.crail.client.statistics.StoreStatistics;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import io.crail.memory.BufferPool;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** What the streams of a store have in common. Thread-safe. */
public final class StreamContext {
  /** An open output stream, as the store sees it. */
  public interface Output {
    /** The id of the node. */
    long id();

    /** The file that it writes to. */
    StreamFile file();

    /** The context whose connections it uses. */
    LoopContext context();

    /** True when the store has ended it. */
    boolean isEnded();

    /**
     * Refuses further writes, and gives the lease back after the writes in flight. The store calls
     * this when the node was deleted or the store is closed.
     *
     * @param why the error of writes and syncs from now on
     * @param then runs when nothing of the stream is under way any more; it must not block
     */
    void end(CrailException why, Runnable then);

    /** As {@link #end}, for a node that this store has removed. */
    void nodeRemoved(CrailException why, Runnable then);
  }

  private static final int DEADLINE_UNIT_SHIFT = 26;

  private static final long WAIT_PAUSE_NANOS = 2_000_000L;
  private static final long COLLECTED_NANOS = 100_000_000;

  /** Streams hold back as many bytes as this part, 1/HELD_PART, of all buffers has. */
  private static final int HELD_PART = 8;

  private final Loops loops;
  private final BufferPool pool;
  private final StreamMemory memory;
  private final UnclosedStreams unclosed;
  private final StoreStatistics statistics;
  private final int sliceBytes;
  private final long dataTimeoutNanos;
  private final long memoryWaitNanos;
  private final boolean durableSync;
  private final Set<Output> outputs = ConcurrentHashMap.newKeySet();

  /** Bytes of small values that streams hold back until they are closed. */
  private final AtomicLong heldBytes = new AtomicLong();

  /** Bytes of the key-value that was written last; the next one may have the same length. */
  private volatile long lastValueBytes;

  /**
   * Creates it, without streams.
   *
   * @param unclosed the open streams of the program
   * @param sliceBytes what a buffered stream moves at a time
   * @param dataTimeoutNanos how long an operation on few bytes may take
   * @param memoryWaitNanos how long a stream waits for memory
   * @param durableSync whether a sync makes bytes durable
   */
  public StreamContext(
      Loops loops,
      BufferPool pool,
      UnclosedStreams unclosed,
      StoreStatistics statistics,
      int sliceBytes,
      long dataTimeoutNanos,
      long memoryWaitNanos,
      boolean durableSync) {
    this.loops = loops;
    this.pool = pool;
    this.memory = new StreamMemory(pool, sliceBytes);
    this.unclosed = unclosed;
    this.statistics = statistics;
    this.sliceBytes = sliceBytes;
    this.dataTimeoutNanos = dataTimeoutNanos;
    this.memoryWaitNanos = memoryWaitNanos;
    this.durableSync = durableSync;
  }

  /**
   * Checks that the store is open.
   *
   * @throws CrailException with CLOSED
   */
  void checkOpen() throws CrailException {
    loops.checkOpen();
  }

  /** The buffers of the store. */
  public BufferPool pool() {
    return pool;
  }

  /** The memory that buffered streams share. */
  StreamMemory memory() {
    return memory;
  }

  /** Most bytes of a small value that a stream that is opened now holds back until its close. */
  int mostHeldBytes() {
    return memory.pieceBytes();
  }

  /** Counts bytes that a stream holds back; false when all streams hold as many as they may. */
  boolean takeHeld(int bytes) {
    if (heldBytes.addAndGet(bytes) <= pool.mostBytes() / HELD_PART) {
      return true;
    }
    heldBytes.addAndGet(-bytes);
    return false;
  }

  /** A stream does not hold bytes back any more. */
  void giveHeld(int bytes) {
    heldBytes.addAndGet(-bytes);
  }

  /** The open streams of the program. */
  UnclosedStreams unclosed() {
    return unclosed;
  }

  /** Takes memory that may be short. */
  @FunctionalInterface
  interface Taker {
    StreamMemory.Piece take() throws CrailException;
  }

  /**
   * Takes memory for a stream that has none. If none is free, the calling thread waits a while for
   * what other streams give back.
   *
   * @throws CrailException a {@code LimitExceededException} after that, and at once in a callback
   */
  StreamMemory.Piece awaitMemory(Taker taker) throws CrailException, InterruptedException {
    LoopContext context = loops.context();
    long endNanos = context.nanoTime() + memoryWaitNanos;
    while (true) {
      try {
        return taker.take();
      } catch (LimitExceededException e) {
        if (unclosed.collect()) {
          // A collection may take longer than the wait, and what it finds comes a little later.
          endNanos = Math.max(endNanos, context.nanoTime() + COLLECTED_NANOS);
        }
        if (context.loop().isDriver()) {
          return taker.take();
        }
        if (context.nanoTime() - endNanos >= 0) {
          throw e;
        }
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      loops.checkOpen();
      context.loop().pollOnce();
      LockSupport.parkNanos(this, WAIT_PAUSE_NANOS);
    }
  }

  /** What the store counts. */
  public StoreStatistics statistics() {
    return statistics;
  }

  /** Bytes that a buffered stream moves at a time. */
  public int sliceBytes() {
    return sliceBytes;
  }

  /** The number of slices of a buffered stream: as many as fit a buffer, and at least two. */
  int sliceCount() {
    return Math.max(2, pool.bufferBytes() / sliceBytes);
  }

  /** How long an operation on {@code length} bytes may take. */
  public long timeoutNanos(int length) {
    return (1 + ((long) length >>> DEADLINE_UNIT_SHIFT)) * dataTimeoutNanos;
  }

  /** Whether a sync makes bytes durable. */
  boolean durableSync() {
    return durableSync;
  }

  /** A buffer of the pool, or a new one when the program has taken all of them. */
  CrailBuffer bufferFor(int length, String path) throws CrailException {
    if (length <= pool.bufferBytes()) {
      try {
        return pool.allocateBuffer();
      } catch (LimitExceededException e) {
        // The program would not need this buffer if no bytes had been held back, and it is small.
      }
    }
    try {
      return OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length));
    } catch (OutOfMemoryError e) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "no direct memory to write " + path + "; see -XX:MaxDirectMemorySize");
    }
  }

  /** Takes back what {@link #bufferFor} gave. */
  void free(CrailBuffer buffer) {
    if (pool.lends(buffer)) {
      pool.freeBuffer(buffer);
    }
  }

  /** The open output streams; a view. */
  public Set<Output> outputs() {
    return outputs;
  }

  /** Remembers an output stream until it is closed. */
  public void opened(Output output) {
    outputs.add(output);
  }

  /** Forgets a closed output stream. */
  void closed(Output output) {
    outputs.remove(output);
  }

  /** Notes the final length of a key-value. */
  public void valueWritten(long bytes) {
    if (lastValueBytes != bytes) {
      lastValueBytes = bytes;
    }
  }

  /** The final length of the key-value that was written last; 0 when none was. */
  public long lastValueBytes() {
    return lastValueBytes;
  }
}

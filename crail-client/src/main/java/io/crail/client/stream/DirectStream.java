/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBuffer;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.space.Locator;
import io.crail.client.statistics.StoreStatistics;
import io.crail.client.statistics.StreamCounters;
import io.crail.common.error.CrailException;
import io.crail.memory.BufferMemory;
import io.crail.storage.StorageEndpoint;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.LongAdder;

/** What direct streams of both directions have in common: the operations in flight. */
public abstract class DirectStream extends PartedOperation.Owner {
  private final StreamFile file;
  private final StreamContext streams;
  private final LoopContext context;
  private final Locator locator;
  private final Unflushed unflushed;

  /** Null for a reader. */
  private final MappedHolders holders;

  private final StreamCounters counters = new StreamCounters();

  /** The operation whose time is taken, and when it began: at most one at a time. */
  private volatile StreamOperation timed;

  private long timedSinceNanos;

  /** Operations that may not have ended, oldest first. Only for the thread that uses the stream. */
  private final ArrayDeque<StreamOperation> recent = new ArrayDeque<>();

  DirectStream(StreamFile file, StreamContext streams, LoopContext context, Locator locator) {
    this.file = file;
    this.streams = streams;
    this.context = context;
    this.locator = locator;
    this.holders = isWriter() ? new MappedHolders() : null;
    this.unflushed = isWriter() && streams.durableSync() ? new Unflushed() : null;
  }

  /** The file whose bytes this stream moves. */
  @Override
  public final StreamFile file() {
    return file;
  }

  final StreamContext streams() {
    return streams;
  }

  /** The context whose connections this stream uses. */
  @Override
  public final LoopContext context() {
    return context;
  }

  @Override
  final Locator locator() {
    return locator;
  }

  @Override
  final StreamCounters counters() {
    return counters;
  }

  @Override
  final void count(LocatedExtent located, StorageEndpoint endpoint, int length, boolean inLoop) {
    boolean isLocal = endpoint.isLocal();
    LongAdder way = located.bytes(isLocal).bytes(isWriter());
    if (inLoop) {
      counters.pieceInLoop(isLocal, way, length);
    } else {
      counters.piece(isLocal, way, length);
    }
  }

  @Override
  final long spacePatienceNanos() {
    return isWriter() ? context.spacePatienceNanos() : 0;
  }

  @Override
  final void written(LocatedExtent located) {
    if (unflushed != null) {
      unflushed.add(located);
    }
    // What a datanode keeps is not lost with its process.
    if (holders != null && !located.isKept()) {
      holders.add(located.endpoint(context.endpoints()));
    }
  }

  /** Why acknowledged bytes of this are lost, as far as that is known here; else null. */
  final CrailException holderLost() {
    return holders.loss(file.getPath());
  }

  /**
   * Why bytes that this took may be lost, once nothing is in flight any more: a write has failed,
   * or the lease is lost, and the held bytes with it. Null when the bytes are at the datanodes,
   * where they are safe as long as the lease lasts.
   */
  final CrailException bytesLost(WriteLedger writes) {
    CrailException cause = writes.loss();
    return cause == null ? lossAt(context.nanoTime()) : cause;
  }

  /** What a sync has to make durable; null when it does not. */
  final Unflushed unflushed() {
    return unflushed;
  }

  @Override
  CrailException lossAt(long nowNanos) {
    return null;
  }

  @Override
  long pieceDeadlineNanos(long operationDeadlineNanos) {
    return operationDeadlineNanos;
  }

  @Override
  final void ended(PartedOperation operation, CrailException failure) {
    boolean isTimed = operation == timed;
    if (isTimed || failure != null) {
      long nanos = isTimed ? context.nanoTime() - timedSinceNanos : -1;
      if (isTimed) {
        timed = null;
      }
      streams.statistics().transferEnded(isWriter(), nanos, failure);
    }
    operationEnded(operation, failure);
  }

  /** As {@link #ended}, for what readers and writers have to do. */
  abstract void operationEnded(PartedOperation operation, CrailException failure);

  /** The memory of a buffer that a stream can use. */
  public static ByteBuffer memoryOf(CrailBuffer buffer) {
    ByteBuffer memory = BufferMemory.of(buffer);
    if (!memory.isDirect()) {
      throw new IllegalArgumentException(
          "a stream needs direct memory; use OffHeapBuffer or CrailStore.allocateBuffer");
    }
    return memory;
  }

  /** The memory that a buffer was cut from: the same object for all buffers cut from it. */
  public static ByteBuffer rootOf(CrailBuffer buffer) {
    return BufferMemory.rootOf(buffer);
  }

  /** The number of bytes from a position on that are copied within this host, without a wait. */
  long localBytes(long position) {
    LocatedExtent located = locator.find(position, context.nanoTime());
    StorageEndpoint endpoint = located == null ? null : located.endpoint(context.endpoints());
    return endpoint == null || !endpoint.isLocal() ? 0 : located.extent().fileEnd() - position;
  }

  /** True when bytes at a position move to and from any direct memory at the same cost. */
  final boolean takesAnyMemory(long position) {
    LocatedExtent located = locator.find(position, context.nanoTime());
    return located != null
        && located.endpoint(context.endpoints()) != null
        && located.takesAnyMemory();
  }

  /** Creates an operation and remembers it until it has ended. */
  final StreamOperation newOperation(
      ByteBuffer memory, ByteBuffer root, int offset, long start, int length, long nowNanos) {
    return newOperation(memory, root, offset, start, length, nowNanos, Long.MAX_VALUE);
  }

  /** The same for an operation that may take {@code mostNanos} at most. */
  final StreamOperation newOperation(
      ByteBuffer memory,
      ByteBuffer root,
      int offset,
      long start,
      int length,
      long nowNanos,
      long mostNanos) {
    while (!recent.isEmpty() && recent.peekFirst().isComplete()) {
      recent.pollFirst();
    }
    StreamOperation operation =
        new StreamOperation(
            this,
            memory,
            root,
            offset,
            start,
            length,
            nowNanos + Math.min(streams.timeoutNanos(length), mostNanos));
    recent.addLast(operation);
    if (StoreStatistics.isTimed(nowNanos) && timed == null) {
      timedSinceNanos = nowNanos;
      timed = operation;
      streams.statistics().goesOn(isWriter(), counters);
    }
    return operation;
  }

  /** Creates an operation, and issues what can be issued now. */
  final StreamOperation issue(
      long start, ByteBuffer memory, ByteBuffer root, int offset, int length, long nowNanos) {
    StreamOperation operation = newOperation(memory, root, offset, start, length, nowNanos);
    operation.advance(nowNanos, false);
    return operation;
  }

  /** Operations that may not have ended. */
  final Iterable<StreamOperation> recent() {
    return recent;
  }

  /** Waits until all operations have succeeded or failed, each at its deadline at the latest. */
  final void awaitOperations() throws InterruptedException {
    for (StreamOperation operation : recent) {
      context.loop().await(operation, operation.deadlineNanos() + Awaitable.GRACE_NANOS);
    }
    recent.clear();
  }
}

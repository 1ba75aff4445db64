/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailBuffer;
import io.crail.common.error.CrailException;
import io.crail.storage.StorageEndpoint;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/** What direct streams of both directions have in common: the operations in flight. */
abstract class DirectStream {
  private static final int DEADLINE_UNIT_SHIFT = 26;

  private final CoreFile file;
  private final LoopContext context;
  private final Locator locator;
  private final long timeoutNanos;
  private final StreamCounters counters = new StreamCounters();

  /** Issued and perhaps not ended, oldest first. Only for the thread that uses the stream. */
  private final ArrayDeque<StreamOperation> recent = new ArrayDeque<>();

  DirectStream(CoreFile file, LoopContext context, Locator locator) {
    this.file = file;
    this.context = context;
    this.locator = locator;
    this.timeoutNanos = file.store().dataTimeoutNanos();
  }

  final CoreFile file() {
    return file;
  }

  final LoopContext context() {
    return context;
  }

  final Locator locator() {
    return locator;
  }

  final StreamCounters counters() {
    return counters;
  }

  abstract boolean isWriter();

  /** Whether a datanode that is silent is left before the deadline, since others have space. */
  boolean isImpatient() {
    return false;
  }

  /** Why no piece may begin now or be under way any more; null while it may. */
  CrailException lossAt(long nowNanos) {
    return null;
  }

  /** The deadline of a piece that is under way now. */
  long pieceDeadlineNanos(long operationDeadlineNanos) {
    return operationDeadlineNanos;
  }

  /** An operation has moved its bytes, or failed; called once for each, by any thread. */
  abstract void operationEnded(StreamOperation operation, CrailException failure);

  /** The memory of a buffer that a stream can use. */
  static ByteBuffer memoryOf(CrailBuffer buffer) {
    ByteBuffer memory = buffer.getByteBuffer();
    if (!memory.isDirect()) {
      throw new IllegalArgumentException(
          "a stream needs direct memory; use OffHeapBuffer or CrailStore.allocateBuffer");
    }
    return memory;
  }

  /** What the memory of a buffer was cut from: one and the same object for all that was. */
  static ByteBuffer rootOf(CrailBuffer buffer) {
    CrailBuffer region = buffer.getRegion();
    ByteBuffer root = region == null ? null : region.getByteBuffer();
    return root != null && root.isDirect() ? root : buffer.getByteBuffer();
  }

  /** Bytes from a position on that are copied within this host, without anything to wait for. */
  long localBytes(long position) {
    LocatedExtent located = locator.find(position, context.nanoTime());
    StorageEndpoint endpoint = located == null ? null : located.endpoint(context.endpoints());
    return endpoint == null || !endpoint.isLocal() ? 0 : located.extent().fileEnd() - position;
  }

  /** True when bytes at a position move to and from any direct memory at the same price. */
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

  /** As the other one, for an operation that may take {@code mostNanos} at most. */
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
            nowNanos + Math.min(timeoutNanos(timeoutNanos, length), mostNanos));
    recent.addLast(operation);
    return operation;
  }

  /** How long an operation on so many bytes may take. */
  static long timeoutNanos(long timeoutNanos, int length) {
    return (1 + ((long) length >>> DEADLINE_UNIT_SHIFT)) * timeoutNanos;
  }

  /** Operations that may not have ended. */
  final Iterable<StreamOperation> recent() {
    return recent;
  }

  /**
   * Waits until all operations have ended, in whichever way, each at its deadline at the latest.
   */
  final void awaitOperations() throws InterruptedException {
    for (StreamOperation operation : recent) {
      context.loop().await(operation, operation.deadlineNanos() + Awaitable.GRACE_NANOS);
    }
    recent.clear();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailResult;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.space.Locator;
import io.crail.client.statistics.StreamCounters;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import io.crail.storage.StorageEndpoint;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * One read or write of a stream as its parts see it. It ends when all of them have ended, since
 * until then they use the caller's memory. The first error is its error. Parts end in any thread.
 */
abstract class PartedOperation extends Completion implements Awaitable<CrailResult>, CrailResult {
  /** How often a piece is tried again: its location was stale, or its datanode out of reach. */
  static final int MAX_RETRIES = 3;

  private static final VarHandle LEFT;
  private static final VarHandle FIRST_FAILURE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      LEFT = lookup.findVarHandle(PartedOperation.class, "left", int.class);
      FIRST_FAILURE =
          lookup.findVarHandle(PartedOperation.class, "firstFailure", CrailException.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The stream of an operation. */
  abstract static class Owner {
    /** The context whose connections the stream uses. */
    abstract LoopContext context();

    /** The file whose bytes move. */
    abstract StreamFile file();

    abstract Locator locator();

    abstract StreamCounters counters();

    abstract boolean isWriter();

    /** How long an operation waits at most, all in all, for space that is known to come. */
    abstract long spacePatienceNanos();

    /** Why no piece may begin or be in flight any more; null while pieces may. */
    abstract CrailException lossAt(long nowNanos);

    /** The deadline of a piece that is under way now. */
    abstract long pieceDeadlineNanos(long operationDeadlineNanos);

    /** Counts a piece that is about to be issued. */
    abstract void count(LocatedExtent to, StorageEndpoint endpoint, int length, boolean inLoop);

    /** Bytes of the stream were written to an extent. */
    abstract void written(LocatedExtent located);

    /** An operation has moved its bytes, or failed. Called once for each, by any thread. */
    abstract void ended(PartedOperation operation, CrailException failure);
  }

  /**
   * What is known of bytes that are sent again.
   *
   * @param parent the operation that has sent them before, and which this is a part of
   * @param retries how often they have been sent before
   * @param mayArriveTwice whether they may still arrive where they went first
   */
  record Repeat(PartedOperation parent, int retries, boolean mayArriveTwice) {}

  /**
   * Null once this has ended, so that a reference to the operation does not keep the caller's
   * memory.
   */
  ByteBuffer memory;

  ByteBuffer root;

  /** When this ends unless it waits for space: later by the time for which it has waited. */
  long deadlineNanos;

  private final Owner stream;

  /** Null unless this repeats bytes of another operation, which few do. */
  private final Repeat repeat;

  private final long start;
  private final int length;

  /** Parts that have not ended; issuing counts as one part. */
  private volatile int left = 1;

  private volatile CrailException firstFailure;

  /** Set when a transfer failed whose bytes may still arrive. */
  private volatile boolean transferFailed;

  PartedOperation(
      Owner stream,
      Repeat repeat,
      ByteBuffer memory,
      ByteBuffer root,
      long start,
      int length,
      long deadlineNanos) {
    this.stream = stream;
    this.repeat = repeat;
    this.memory = memory;
    this.root = root;
    this.start = start;
    this.length = length;
    this.deadlineNanos = deadlineNanos;
  }

  final Owner stream() {
    return stream;
  }

  /** The position of the first byte. */
  final long start() {
    return start;
  }

  /** The position after the last byte. */
  public final long end() {
    return start + length;
  }

  final int length() {
    return length;
  }

  /** True when bytes of this may still arrive at a datanode though it has ended. */
  final boolean transferFailed() {
    return transferFailed;
  }

  /** True when pieces of this are not tried again. */
  final boolean isLastTry() {
    return retries() == MAX_RETRIES;
  }

  final int retries() {
    return repeat == null ? 0 : repeat.retries;
  }

  /** Notes that bytes of this may still arrive at a datanode, whatever its outcome. */
  final void mayArrive() {
    transferFailed = true;
  }

  /**
   * Moves bytes of this again, from the caller's memory, as a part of this. In the loop.
   *
   * @param isRetry whether this counts as a retry, which are few
   */
  abstract void again(
      int offset, long position, int count, boolean mayArriveAgain, boolean isRetry);

  /**
   * Whether bytes that cannot be moved wait for their datanode, which keeps what it has, and may be
   * starting again; as long as there is time.
   */
  final boolean awaitsDatanode(int datanode, CrailException cause) {
    LoopContext context = stream.context();
    return LocatedExtent.isAway(cause)
        && context.endpoints().keeps(datanode)
        && stream.pieceDeadlineNanos(deadlineNanos) - context.nanoTime() > DatanodePause.NANOS;
  }

  /**
   * Whether bytes that cannot be written to an extent go to other space. Gives the extent up for
   * that.
   */
  final boolean goesElsewhere(LocatedExtent located, CrailException cause) {
    if (!stream.locator().canReplace()) {
      return false;
    }
    long endNanos = stream.pieceDeadlineNanos(deadlineNanos);
    return LocatedExtent.isOutOfReach(cause, endNanos - stream.context().nanoTime() > 0)
        ? located.giveUp(cause, endNanos)
        : located.isGivenUp();
  }

  /** Replaces a timeout by its cause, when that is the end of the write lease. */
  final CrailException lossOr(CrailException failure) {
    CrailException loss =
        failure.code() == ErrorCode.TIMED_OUT ? stream.lossAt(stream.context().nanoTime()) : null;
    return loss == null ? failure : loss;
  }

  /** Counts one more part. */
  final void partBegun() {
    LEFT.getAndAdd(this, 1);
  }

  /** Counts the end of a part, with its error or null. */
  final void partEnded(CrailException failure) {
    if (failure != null) {
      FIRST_FAILURE.compareAndSet(this, null, failure);
    }
    if ((int) LEFT.getAndAdd(this, -1) == 1) {
      finish();
    }
  }

  private void finish() {
    memory = null;
    root = null;
    CrailException failure = firstFailure;
    if (repeat != null) {
      if (transferFailed || (failure != null && repeat.mayArriveTwice)) {
        repeat.parent.mayArrive();
      }
      repeat.parent.partEnded(failure);
      return;
    }
    stream.ended(this, failure);
    if (failure == null) {
      succeed();
    } else {
      fail(failure);
    }
  }

  @Override
  public final ClientLoop loop() {
    return stream.context().loop();
  }

  @Override
  public final CrailResult result() {
    return this;
  }

  @Override
  public final long getLen() {
    return length;
  }

  @Override
  public final String toString() {
    return (stream.isWriter() ? "write of " : "read of ")
        + length
        + " bytes at "
        + start
        + " of "
        + stream.file().getPath();
  }
}

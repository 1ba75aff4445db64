/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailResult;
import io.crail.client.datanode.Endpoints;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.space.LocationWaiter;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.loop.LoopTask;
import io.crail.rpc.loop.Sweepable;
import io.crail.storage.StorageEndpoint;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * One read or write of a stream. It is split into one piece per extent. A piece whose location is
 * known starts at once, in the calling thread. At the first unknown location the rest continues in
 * the loop, after the answer of the namenode. The operation ends when all its pieces have ended,
 * since until then they use the caller's memory. The first error is its error.
 *
 * <p>After the write lease may have run out, no piece of a write begins or is in flight: the
 * deadline of a piece is the present end of the lease, which renewals move.
 *
 * <p>A request for locations has a deadline of its own, and may serve other operations that have
 * more time. So an operation checks its own deadline while it waits for a location, and ignores a
 * later answer. The wait of a write for space that is known to come does not count.
 *
 * <p>One thread at a time issues pieces: first the caller, then the loop.
 */
public final class StreamOperation extends Completion
    implements Awaitable<CrailResult>,
        CrailResult,
        LoopTask,
        Sweepable,
        Endpoints.Waiter,
        LocationWaiter {
  /** How often a piece is tried again: its location was stale, or its datanode out of reach. */
  private static final int MAX_RETRIES = 3;

  private static final VarHandle LEFT;
  private static final VarHandle FIRST_FAILURE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      LEFT = lookup.findVarHandle(StreamOperation.class, "left", int.class);
      FIRST_FAILURE =
          lookup.findVarHandle(StreamOperation.class, "firstFailure", CrailException.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final DirectStream stream;

  /** Null unless this repeats bytes of another operation, which few do. */
  private final Repeat repeat;

  private final int memoryOffset;
  private final long start;
  private final int length;

  /** When this ends unless it waits for space: later by the time for which it has waited. */
  private long deadlineNanos;

  /** Null until this waits for space for the first time. */
  private SpaceWait spaceWait;

  /**
   * Null once this has ended, so that a reference to the operation does not keep the caller's
   * memory.
   */
  private ByteBuffer memory;

  private ByteBuffer root;

  /** Bytes that have been given to pieces. */
  private int issued;

  /** Parts that have not ended; issuing counts as one part. */
  private volatile int left = 1;

  /** Datanodes whose endpoints were not known. In the loop. */
  private int unresolved;

  /**
   * Whether the loop sweeps this, since this waits for a request that has another deadline. In the
   * loop.
   */
  private boolean watched;

  /** Set when no more pieces are issued; answers that come after that are of no use. */
  private boolean issuingEnded;

  private volatile CrailException firstFailure;

  /** Set when a transfer failed whose bytes may still arrive. */
  private volatile boolean transferFailed;

  /**
   * What is known of bytes that are sent again.
   *
   * @param parent the operation that has sent them before, and which this is a part of
   * @param retries how often they have been sent before
   * @param mayArriveTwice whether they may still arrive where they went first
   */
  private record Repeat(StreamOperation parent, int retries, boolean mayArriveTwice) {}

  /**
   * Creates an operation; {@link #advance} starts it.
   *
   * @param memory direct memory; also heap memory when the bytes are copied within this host
   * @param root the memory that it was cut from, the same object each time
   * @param memoryOffset the first byte in {@code memory}
   * @param start position in the file
   * @param length bytes
   * @param deadlineNanos when it ends unless it waits for space
   */
  StreamOperation(
      DirectStream stream,
      ByteBuffer memory,
      ByteBuffer root,
      int memoryOffset,
      long start,
      int length,
      long deadlineNanos) {
    this(stream, null, memory, root, memoryOffset, start, length, deadlineNanos, null);
  }

  private StreamOperation(
      DirectStream stream,
      Repeat repeat,
      ByteBuffer memory,
      ByteBuffer root,
      int memoryOffset,
      long start,
      int length,
      long deadlineNanos,
      SpaceWait spaceWait) {
    this.stream = stream;
    this.repeat = repeat;
    this.memory = memory;
    this.root = root;
    this.memoryOffset = memoryOffset;
    this.start = start;
    this.length = length;
    this.deadlineNanos = deadlineNanos;
    this.spaceWait = spaceWait;
  }

  /** An operation that has ended, with nothing in flight. */
  static StreamOperation ended(DirectStream stream, long position, int length) {
    StreamOperation operation = new StreamOperation(stream, null, null, 0, position, length, 0);
    operation.succeed();
    return operation;
  }

  DirectStream stream() {
    return stream;
  }

  /** The position of the first byte. */
  long start() {
    return start;
  }

  @Override
  public long end() {
    return start + length;
  }

  @Override
  public long next() {
    return start + issued;
  }

  /** True when bytes of this may still arrive at a datanode though it has ended. */
  boolean transferFailed() {
    return transferFailed;
  }

  @Override
  public void advance() {
    advance(stream.context().nanoTime(), true);
  }

  /** As {@link #advance()}, for a caller that has just looked at the clock. */
  void advance(long nowNanos, boolean inLoop) {
    LoopContext context = stream.context();
    long now = nowNanos;
    while (issued < length) {
      CrailException refusal = refusal(now);
      if (refusal != null) {
        locationFailed(refusal);
        return;
      }
      LocatedExtent located = stream.locator().find(next(), now);
      if (located != null && spaceWait != null) {
        deadlineNanos = spaceWait.end(deadlineNanos, now);
      }
      StorageEndpoint endpoint =
          located == null || located.isGivenUp() ? null : located.endpoint(context.endpoints());
      if (endpoint == null) {
        context.loop().submit(this);
        return;
      }
      issue(located, endpoint, now, inLoop);
      if (issued < length) {
        // A piece may have been copied here and now, and that takes time.
        now = context.nanoTime();
      }
    }
    endIssuing(null);
  }

  /** Why the next piece may not begin; null when it may. */
  private CrailException refusal(long now) {
    CrailException loss = stream.lossAt(now);
    return loss == null && now - deadlineNanos >= 0 ? timedOut() : loss;
  }

  private CrailException timedOut() {
    return spaceWait != null && spaceWait.shortage() != null
        ? spaceWait.shortage()
        : ErrorCode.TIMED_OUT.exception("locating " + stream.file().getPath());
  }

  /** Asks for what is missing to continue. In the loop. */
  @Override
  public void runInLoop() {
    if (issuingEnded) {
      return;
    }
    LoopContext context = stream.context();
    if (!watched) {
      watched = true;
      context.loop().register(this);
    }
    LocatedExtent located = stream.locator().find(next(), context.nanoTime());
    if (located == null) {
      stream.counters().unlocated();
      stream.locator().locate(this, next());
    } else if (located.isGivenUp()) {
      stream.locator().replace(located, this);
    } else {
      context.endpoints().resolve(located.extent().datanode(), this);
    }
  }

  @Override
  public void sweep(long nowNanos) {
    if (nowNanos - deadlineNanos >= 0) {
      locationFailed(timedOut());
    }
  }

  @Override
  public boolean awaitsSpace(CrailException cause) {
    long now = stream.context().nanoTime();
    if (spaceWait == null) {
      spaceWait = new SpaceWait(deadlineNanos());
    }
    deadlineNanos = spaceWait.begin(cause, deadlineNanos, now);
    CrailException refusal = refusal(now);
    if (refusal != null) {
      locationFailed(refusal);
    }
    return refusal == null;
  }

  @Override
  public boolean isIssuingEnded() {
    return issuingEnded;
  }

  @Override
  public void rejected() {
    locationFailed(ErrorCode.CLOSED.exception("store"));
  }

  @Override
  public void endpointReady() {
    if (!issuingEnded) {
      advance();
    }
  }

  @Override
  public void endpointFailed(CrailException cause) {
    if (issuingEnded) {
      return;
    }
    LocatedExtent located = stream.locator().find(next(), stream.context().nanoTime());
    // Without a location, what it was is over, and the datanode may have left since.
    boolean isOver = located == null && !stream.isWriter();
    if (unresolved++ < MAX_RETRIES
        && (isOver || (located != null && goesElsewhere(located, cause)))) {
      runInLoop();
    } else {
      locationFailed(cause);
    }
  }

  /** True when pieces of this are not tried again. */
  boolean isLastTry() {
    return retries() == MAX_RETRIES;
  }

  private int retries() {
    return repeat == null ? 0 : repeat.retries;
  }

  /** Notes that bytes of this may still arrive at a datanode, whatever its outcome. */
  void mayArrive() {
    transferFailed = true;
  }

  /** Repeats bytes of this, from the caller's memory. The new operation ends as a part of this. */
  StreamOperation again(int offset, long position, int count, boolean mayArriveAgain) {
    return new StreamOperation(
        stream,
        new Repeat(this, retries() + 1, mayArriveAgain),
        memory,
        root,
        offset,
        position,
        count,
        deadlineNanos,
        spaceWait == null ? null : new SpaceWait(spaceWait.latestNanos()));
  }

  /**
   * Whether bytes that cannot be written to an extent go to other space. Gives the extent up for
   * that.
   */
  boolean goesElsewhere(LocatedExtent located, CrailException cause) {
    if (!stream.locator().canReplace()) {
      return false;
    }
    long endNanos = stream.pieceDeadlineNanos(deadlineNanos);
    return LocatedExtent.isOutOfReach(cause, endNanos - stream.context().nanoTime() > 0)
        ? located.giveUp(cause, endNanos)
        : located.isGivenUp();
  }

  @Override
  public void supply(byte[] value) {
    CrailException refusal = refusal(stream.context().nanoTime());
    if (refusal != null) {
      // The caller that waited for this has the memory back.
      locationFailed(refusal);
      return;
    }
    if (end() > value.length) {
      locationFailed(
          ErrorCode.OUT_OF_RANGE.exception(
              stream.file().getPath() + " has no bytes at " + value.length));
      return;
    }
    memory.put(memoryOffset + issued, value, (int) next(), length - issued);
    issued = length;
    endIssuing(null);
  }

  @Override
  public void notReplaced(CrailException cause) {
    transferFailed = true;
    locationFailed(cause);
  }

  @Override
  public void locationFailed(CrailException cause) {
    endIssuing(lossOr(cause));
  }

  /** Ends issuing, unless that has been done. */
  private void endIssuing(CrailException failure) {
    if (issuingEnded) {
      return;
    }
    issuingEnded = true;
    if (watched) {
      watched = false;
      stream.context().loop().unregister(this);
    }
    partEnded(failure);
  }

  private void issue(
      LocatedExtent located, StorageEndpoint endpoint, long nowNanos, boolean inLoop) {
    Extent extent = located.extent();
    int extentOffset = (int) (next() - extent.fileOffset());
    int pieceLength = Math.min(length - issued, extent.length() - extentOffset);
    StreamPiece piece = new StreamPiece(this, located, nowNanos);
    piece.prepare(memory, memoryOffset + issued, pieceLength, extent, extentOffset, deadlineNanos);
    piece.cutFrom(root);
    issued += pieceLength;
    partBegun();
    stream.count(located, endpoint, pieceLength, inLoop);
    if (stream.isWriter()) {
      endpoint.write(piece);
    } else {
      endpoint.read(piece);
    }
  }

  /** Replaces a timeout by its cause, when that is the end of the write lease. */
  CrailException lossOr(CrailException failure) {
    CrailException loss =
        failure.code() == ErrorCode.TIMED_OUT ? stream.lossAt(stream.context().nanoTime()) : null;
    return loss == null ? failure : loss;
  }

  /** Counts one more part. */
  void partBegun() {
    LEFT.getAndAdd(this, 1);
  }

  /** Counts the end of a part, with its error or null. */
  void partEnded(CrailException failure) {
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
        repeat.parent.transferFailed = true;
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
  public ClientLoop loop() {
    return stream.context().loop();
  }

  @Override
  public long deadlineNanos() {
    return spaceWait == null
        ? deadlineNanos + stream.spacePatienceNanos()
        : spaceWait.latestNanos();
  }

  @Override
  public CrailResult result() {
    return this;
  }

  @Override
  public long getLen() {
    return length;
  }

  @Override
  public String toString() {
    return (stream.isWriter() ? "write of " : "read of ")
        + length
        + " bytes at "
        + start
        + " of "
        + stream.file().getPath();
  }
}

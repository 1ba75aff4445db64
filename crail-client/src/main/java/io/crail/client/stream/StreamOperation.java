/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.datanode.Endpoints;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.space.LocationWaiter;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.rpc.loop.LoopTask;
import io.crail.rpc.loop.Sweepable;
import io.crail.storage.StorageEndpoint;
import java.nio.ByteBuffer;

/**
 * Issues one read or write of a stream. It is split into one piece per extent. A piece whose
 * location is known starts at once, in the calling thread. At the first unknown location the rest
 * continues in the loop, after the answer of the namenode.
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
public final class StreamOperation extends PartedOperation
    implements LoopTask, Sweepable, Endpoints.Waiter, LocationWaiter {
  private final int memoryOffset;

  /** Null until this waits for space for the first time. */
  private SpaceWait spaceWait;

  /** Bytes that have been given to pieces. */
  private int issued;

  /** Datanodes whose endpoints were not known. In the loop. */
  private int unresolved;

  /**
   * Whether the loop sweeps this, since this waits for a request that has another deadline. In the
   * loop.
   */
  private boolean watched;

  /** Set when no more pieces are issued; answers that come after that are of no use. */
  private boolean issuingEnded;

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
      Owner stream,
      ByteBuffer memory,
      ByteBuffer root,
      int memoryOffset,
      long start,
      int length,
      long deadlineNanos) {
    this(stream, null, memory, root, memoryOffset, start, length, deadlineNanos, null);
  }

  private StreamOperation(
      Owner stream,
      Repeat repeat,
      ByteBuffer memory,
      ByteBuffer root,
      int memoryOffset,
      long start,
      int length,
      long deadlineNanos,
      SpaceWait spaceWait) {
    super(stream, repeat, memory, root, start, length, deadlineNanos);
    this.memoryOffset = memoryOffset;
    this.spaceWait = spaceWait;
  }

  /** An operation that has ended, with nothing in flight. */
  static StreamOperation ended(Owner stream, long position, int length) {
    StreamOperation operation = new StreamOperation(stream, null, null, 0, position, length, 0);
    operation.succeed();
    return operation;
  }

  @Override
  public long next() {
    return start() + issued;
  }

  @Override
  public void advance() {
    advance(stream().context().nanoTime(), true);
  }

  /** As {@link #advance()}, for a caller that has just looked at the clock. */
  void advance(long nowNanos, boolean inLoop) {
    LoopContext context = stream().context();
    long now = nowNanos;
    while (issued < length()) {
      CrailException refusal = refusal(now);
      if (refusal != null) {
        locationFailed(refusal);
        return;
      }
      LocatedExtent located = stream().locator().find(next(), now);
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
      if (issued < length()) {
        // A piece may have been copied here and now, and that takes time.
        now = context.nanoTime();
      }
    }
    endIssuing(null);
  }

  /** Why the next piece may not begin; null when it may. */
  private CrailException refusal(long now) {
    CrailException loss = stream().lossAt(now);
    return loss == null && now - deadlineNanos >= 0 ? timedOut() : loss;
  }

  private CrailException timedOut() {
    return spaceWait != null && spaceWait.shortage() != null
        ? spaceWait.shortage()
        : ErrorCode.TIMED_OUT.exception("locating " + stream().file().getPath());
  }

  /** Asks for what is missing to continue. In the loop. */
  @Override
  public void runInLoop() {
    if (issuingEnded) {
      return;
    }
    LoopContext context = stream().context();
    if (!watched) {
      watched = true;
      context.loop().register(this);
    }
    LocatedExtent located = stream().locator().find(next(), context.nanoTime());
    if (located == null) {
      stream().counters().unlocated();
      stream().locator().locate(this, next());
    } else if (located.isGivenUp()) {
      stream().locator().replace(located, this);
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
    long now = stream().context().nanoTime();
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
  public void endpointFailed(int datanode, CrailException cause) {
    if (issuingEnded) {
      return;
    }
    LocatedExtent located = stream().locator().find(next(), stream().context().nanoTime());
    // Without a location, what it was is over, and the datanode may have left since.
    boolean isOver = located == null && !stream().isWriter();
    if (unresolved++ < MAX_RETRIES
        && (isOver || (located != null && goesElsewhere(located, cause)))) {
      runInLoop();
    } else if (awaitsDatanode(datanode, cause)) {
      // The location too may be another one then.
      if (located != null) {
        stream().locator().forget(located.extent());
      }
      DatanodePause.begin(stream().context(), this);
    } else {
      locationFailed(cause);
    }
  }

  @Override
  void again(int offset, long position, int count, boolean mayArriveAgain, boolean isRetry) {
    new StreamOperation(
            stream(),
            new Repeat(this, retries() + (isRetry ? 1 : 0), mayArriveAgain),
            memory,
            root,
            offset,
            position,
            count,
            deadlineNanos,
            spaceWait == null ? null : new SpaceWait(spaceWait.latestNanos()))
        .advance();
  }

  @Override
  public void supply(byte[] value) {
    CrailException refusal = refusal(stream().context().nanoTime());
    if (refusal != null) {
      // The caller that waited for this has the memory back.
      locationFailed(refusal);
      return;
    }
    if (end() > value.length) {
      locationFailed(
          ErrorCode.OUT_OF_RANGE.exception(
              stream().file().getPath() + " has no bytes at " + value.length));
      return;
    }
    memory.put(memoryOffset + issued, value, (int) next(), length() - issued);
    issued = length();
    endIssuing(null);
  }

  @Override
  public void notReplaced(CrailException cause) {
    mayArrive();
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
      stream().context().loop().unregister(this);
    }
    partEnded(failure);
  }

  private void issue(
      LocatedExtent located, StorageEndpoint endpoint, long nowNanos, boolean inLoop) {
    Extent extent = located.extent();
    int extentOffset = (int) (next() - extent.fileOffset());
    int pieceLength = Math.min(length() - issued, extent.length() - extentOffset);
    StreamPiece piece = new StreamPiece(this, located, nowNanos);
    piece.prepare(memory, memoryOffset + issued, pieceLength, extent, extentOffset, deadlineNanos);
    piece.cutFrom(root);
    issued += pieceLength;
    partBegun();
    stream().count(located, endpoint, pieceLength, inLoop);
    if (stream().isWriter()) {
      endpoint.write(piece);
    } else {
      endpoint.read(piece);
    }
  }

  @Override
  public long deadlineNanos() {
    return spaceWait == null
        ? deadlineNanos + stream().spacePatienceNanos()
        : spaceWait.latestNanos();
  }
}

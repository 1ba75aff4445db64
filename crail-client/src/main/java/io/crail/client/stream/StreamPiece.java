/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.loop.LoopTask;
import io.crail.storage.Transfer;

/**
 * The bytes of an operation that go to one extent. When their location was stale, or the extent was
 * given up, a task in the loop asks for the new location and moves the bytes there.
 */
final class StreamPiece extends Transfer implements LoopTask {
  private final PartedOperation operation;
  private final LocatedExtent located;
  private final long begunNanos;

  /** Whether the repeated bytes may still arrive where they went first. */
  private boolean mayArriveTwice;

  /** False when the bytes wait for their datanode before they are repeated. */
  private boolean isRetry = true;

  /** Set when that wait begins. In the loop. */
  private boolean hasWaited;

  StreamPiece(PartedOperation operation, LocatedExtent located, long begunNanos) {
    this.operation = operation;
    this.located = located;
    this.begunNanos = begunNanos;
  }

  private PartedOperation.Owner stream() {
    return operation.stream();
  }

  private LoopContext context() {
    return stream().context();
  }

  @Override
  public long deadlineNanos() {
    long end = stream().pieceDeadlineNanos(super.deadlineNanos());
    if (!stream().isWriter()) {
      return end;
    }
    // Even the last try may go to space that another operation gives up.
    return operation.isLastTry()
        ? located.writesEndNanos(end)
        : located.writesEndNanos(end, begunNanos, context().silenceNanos(length()));
  }

  @Override
  protected void completed() {
    CrailException failure = failure();
    if (failure == null && isStale()) {
      failure = ErrorCode.STALE_EXTENT.exception("took longer than its location was good for");
    }
    if (failure != null) {
      failed(failure);
      return;
    }
    located.answered(context());
    if (isInVain()) {
      repeat(true);
    } else {
      stream().written(located);
      operation.partEnded(null);
    }
  }

  /** True when this may have read bytes that another client has written there in between. */
  private boolean isStale() {
    return !stream().isWriter() && !located.isChecked() && !located.isValid(context().nanoTime());
  }

  /** True when this has written to space that was given up. */
  private boolean isInVain() {
    return stream().isWriter() && !located.acknowledge();
  }

  private void failed(CrailException failure) {
    boolean isStale = failure.code() == ErrorCode.STALE_EXTENT || isOutdated(failure);
    if (!operation.isLastTry() && (isStale || operation.goesElsewhere(located, failure))) {
      repeat(!isStale);
    } else if (operation.awaitsDatanode(extent().datanode(), failure)) {
      isRetry = false;
      repeat(true);
    } else {
      // One failure is enough: a later piece that is only stale does not undo it.
      if (!isStale) {
        operation.mayArrive();
      }
      operation.partEnded(operation.lossOr(failure));
    }
  }

  /**
   * True when this has read for longer than its location was good for, and meanwhile the bytes may
   * have been moved, and their datanode may have left.
   */
  private boolean isOutdated(CrailException failure) {
    return !stream().isWriter()
        && !located.isValid(context().nanoTime())
        && LocatedExtent.isOutOfReach(failure, false);
  }

  private void repeat(boolean twice) {
    mayArriveTwice = twice;
    context().loop().submit(this);
  }

  @Override
  public void runInLoop() {
    if (isRetry || hasWaited) {
      again();
    } else {
      hasWaited = true;
      DatanodePause.begin(context(), this);
    }
  }

  private void again() {
    if (!located.isGivenUp()) {
      stream().locator().forget(extent());
    }
    operation.again(
        bufferOffset(), extent().fileOffset() + extentOffset(), length(), mayArriveTwice, isRetry);
  }

  @Override
  public void rejected() {
    if (mayArriveTwice) {
      operation.mayArrive();
    }
    operation.partEnded(ErrorCode.CLOSED.exception("store"));
  }
}

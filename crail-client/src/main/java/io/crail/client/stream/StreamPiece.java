/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.storage.Transfer;

/**
 * The bytes of an operation that go to one extent. Where their location was stale, or the extent is
 * given up, a task in the loop asks where they are now, or are to be, and moves them there.
 */
final class StreamPiece extends Transfer implements ClientLoop.Task {
  private final StreamOperation operation;
  private final LocatedExtent located;
  private final long begunNanos;

  /** Whether what is repeated may still arrive where it went first. */
  private boolean mayArriveTwice;

  StreamPiece(StreamOperation operation, LocatedExtent located, long begunNanos) {
    this.operation = operation;
    this.located = located;
    this.begunNanos = begunNanos;
  }

  private DirectStream stream() {
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
    // Also the last try may be to space that somebody else gives up.
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
      operation.partEnded(null);
    }
  }

  /** True when this may have read what others have written in the place meanwhile. */
  private boolean isStale() {
    return !stream().isWriter() && !located.isChecked() && !located.isValid(context().nanoTime());
  }

  /** True when this has written to space that is given up. */
  private boolean isInVain() {
    return stream().isWriter() && !located.acknowledge();
  }

  private void failed(CrailException failure) {
    boolean isStale = failure.code() == ErrorCode.STALE_EXTENT;
    if (!operation.isLastTry() && (isStale || operation.goesElsewhere(located, failure))) {
      repeat(!isStale);
    } else {
      // One failure is enough: a later piece that is only stale takes nothing of it back.
      if (!isStale) {
        operation.mayArrive();
      }
      operation.partEnded(operation.lossOr(failure));
    }
  }

  private void repeat(boolean twice) {
    mayArriveTwice = twice;
    context().loop().submit(this);
  }

  @Override
  public void runInLoop() {
    if (!located.isGivenUp()) {
      stream().locator().forget(extent());
    }
    operation
        .again(bufferOffset(), extent().fileOffset() + extentOffset(), length(), mayArriveTwice)
        .advance();
  }

  @Override
  public void rejected() {
    if (mayArriveTwice) {
      operation.mayArrive();
    }
    operation.partEnded(ErrorCode.CLOSED.exception("store"));
  }
}

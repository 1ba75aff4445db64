/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.lease.WriteLeases;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.statistics.StoreStatistics;
import io.crail.client.statistics.StreamCounters;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Completion;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.nio.ByteBuffer;

/**
 * Writes bytes to an extent of which nobody knows yet whose it will be. No byte is on its way after
 * the extent is good; or, once a node is known to have it, after the lease of that node. Nothing is
 * tried again. Used once.
 */
public final class ExtentWrite extends Completion {
  private final LoopContext context;
  private final String name;
  private final LocatedExtent target;
  private final StorageEndpoint endpoint;
  private final StreamCounters counters = new StreamCounters();
  private long begunNanos;
  private long deadlineNanos;

  /** The lease of the node that has the extent; null as long as none is known to. */
  private volatile WriteLeases.Held lease;

  private volatile boolean mayArrive;

  /**
   * Creates a write; {@link #begin} starts it.
   *
   * @param name of what is written, for messages
   * @param endpoint the way to the extent, which the extent has found
   */
  public ExtentWrite(
      LoopContext context, String name, LocatedExtent target, StorageEndpoint endpoint) {
    this.context = context;
    this.name = name;
    this.target = target;
    this.endpoint = endpoint;
  }

  /**
   * Writes bytes, which fit, to the beginning of the extent.
   *
   * @param root what their memory was cut from
   */
  public void begin(ByteBuffer memory, ByteBuffer root, int offset, int length, long timeoutNanos) {
    begunNanos = context.nanoTime();
    deadlineNanos = begunNanos + timeoutNanos;
    CrailException loss = lossAt(begunNanos);
    if (loss == null) {
      Piece piece = new Piece();
      piece.prepare(memory, offset, length, target.extent(), 0, deadlineNanos);
      piece.cutFrom(root);
      counters.piece(endpoint.isLocal());
      endpoint.write(piece);
    } else {
      fail(loss);
    }
    counters.operation(length, isComplete());
  }

  /** All bytes on their way. */
  private final class Piece extends Transfer {
    @Override
    public long deadlineNanos() {
      return target.writesEndNanos(endNanos(), begunNanos, context.silenceNanos(length()));
    }

    @Override
    protected void completed() {
      ended(failure());
    }
  }

  private void ended(CrailException failure) {
    if (failure == null) {
      target.answered(context);
      succeed();
      return;
    }
    mayArrive = failure.code() != ErrorCode.STALE_EXTENT;
    CrailException loss = failure.code() == ErrorCode.TIMED_OUT ? lossAt(context.nanoTime()) : null;
    fail(loss == null ? failure : loss);
  }

  /** When the bytes may be on their way at the latest. */
  private long endNanos() {
    WriteLeases.Held held = lease;
    long end = held == null ? target.validUntilNanos() : held.validUntilNanos();
    return end - deadlineNanos < 0 ? end : deadlineNanos;
  }

  /** Why no byte may be on its way any more; null while it may. */
  private CrailException lossAt(long nowNanos) {
    WriteLeases.Held held = lease;
    if (held != null) {
      return held.isValid(nowNanos) ? null : held.loss(name);
    }
    return target.isValid(nowNanos)
        ? null
        : ErrorCode.WRITE_LEASE_LOST.exception(name + ": space given ahead");
  }

  /** A node has the extent, so its lease says how long the write may go on. */
  public void goesOnUnder(WriteLeases.Held held) {
    lease = held;
  }

  /** That lease is needed no longer. */
  public void endLease() {
    WriteLeases.Held held = lease;
    if (held != null) {
      held.close();
    }
  }

  /** True when bytes of this may still arrive at the datanode though it has ended. */
  public boolean mayArrive() {
    return mayArrive;
  }

  /** Whether this has failed with what says that other space is needed. */
  public boolean isOutOfReach() {
    return LocatedExtent.isOutOfReach(failure(), endNanos() - context.nanoTime() > 0);
  }

  /** What has been written, as a stream counts it. */
  StreamCounters counters() {
    return counters;
  }

  /** Adds what has been written to what a store has counted, as a stream of its own. */
  public void countIn(StoreStatistics statistics) {
    statistics.outputOpened();
    statistics.outputClosed(counters);
  }
}

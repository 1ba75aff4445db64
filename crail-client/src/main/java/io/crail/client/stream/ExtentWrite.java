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
 * Writes bytes to an extent before a node is known to own it. No byte is in flight after the grant
 * of the extent ends. Once a node is known to own the extent, the node's lease is the limit
 * instead. Nothing is tried again. Used once.
 */
public final class ExtentWrite extends Completion {
  private final LoopContext context;
  private final StoreStatistics statistics;
  private final String name;
  private final LocatedExtent target;
  private final StorageEndpoint endpoint;
  private final StreamCounters counters = new StreamCounters();
  private long begunNanos;
  private long deadlineNanos;

  /** The lease of the node that owns the extent; null while no owner is known. */
  private volatile WriteLeases.Held lease;

  private volatile boolean mayArrive;

  /**
   * Creates a write; {@link #begin} starts it.
   *
   * @param statistics that count it
   * @param name the name of the value, for messages
   * @param endpoint the endpoint of the extent's datanode
   */
  public ExtentWrite(
      LoopContext context,
      StoreStatistics statistics,
      String name,
      LocatedExtent target,
      StorageEndpoint endpoint) {
    this.context = context;
    this.statistics = statistics;
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
      boolean isLocal = endpoint.isLocal();
      counters.piece(isLocal, target.traffic(isLocal).bytes(true), length);
      endpoint.write(piece);
    } else {
      fail(loss);
    }
    counters.operation(length, isComplete());
  }

  /** The transfer of all bytes. */
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
    if (StoreStatistics.isTimed(begunNanos)) {
      // Whether it counts as failed is known later: a put may write its bytes once more.
      statistics.transferEnded(true, context.nanoTime() - begunNanos, null);
    }
    if (failure == null) {
      target.answered(context);
      succeed();
      return;
    }
    mayArrive = failure.code() != ErrorCode.STALE_EXTENT;
    CrailException loss = failure.code() == ErrorCode.TIMED_OUT ? lossAt(context.nanoTime()) : null;
    fail(loss == null ? failure : loss);
  }

  /** Until when the bytes may be in flight. */
  private long endNanos() {
    WriteLeases.Held held = lease;
    long end = held == null ? target.validUntilNanos() : held.validUntilNanos();
    return end - deadlineNanos < 0 ? end : deadlineNanos;
  }

  /** Why no byte may be in flight any more; null while bytes may. */
  private CrailException lossAt(long nowNanos) {
    WriteLeases.Held held = lease;
    if (held != null) {
      return held.isValid(nowNanos) ? null : held.loss(name);
    }
    return target.isValid(nowNanos)
        ? null
        : ErrorCode.WRITE_LEASE_LOST.exception(name + ": space given ahead");
  }

  /** A node owns the extent, so from now on its lease limits the write. */
  public void goesOnUnder(WriteLeases.Held held) {
    lease = held;
  }

  /** The write no longer needs the node's lease. */
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

  /** Whether this has failed with an error that means that other space is needed. */
  public boolean isOutOfReach() {
    return LocatedExtent.isOutOfReach(failure(), endNanos() - context.nanoTime() > 0);
  }

  /** The written bytes, counted as a stream counts them. */
  StreamCounters counters() {
    return counters;
  }

  /** Adds the written bytes to the store's statistics, as a stream of its own. */
  public void count() {
    statistics.outputOpened();
    statistics.outputClosed(counters);
  }
}

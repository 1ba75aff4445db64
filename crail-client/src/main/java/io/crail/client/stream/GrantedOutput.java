/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.lease.WriteLeases;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.space.LocationWaiter;
import io.crail.client.space.Locator;
import io.crail.client.space.SpaceAhead;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.storage.StorageEndpoint;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Writes a value to space that was given ahead, begun before its node is known to be there. No byte
 * is on its way after the end of the grant; or of the lease, once the node is known to have that
 * space. Used once.
 */
public final class GrantedOutput extends DirectStream {
  private final SpaceAhead.Grant grant;

  /** The lease of the node that has the space; null as long as none is known to. */
  private volatile WriteLeases.Held lease;

  /**
   * Creates the stream.
   *
   * @param file a handle for the name in messages; nobody else has it
   */
  public GrantedOutput(
      StreamFile file, StreamContext streams, LoopContext context, SpaceAhead.Grant grant) {
    super(file, streams, context, new GrantLocator(grant));
    this.grant = grant;
  }

  /** There is one location, and nobody to ask for another. */
  private static final class GrantLocator extends Locator {
    GrantLocator(SpaceAhead.Grant grant) {
      super(List.of(grant.extent()), grant.validUntilNanos());
    }

    @Override
    public void locate(LocationWaiter operation, long position) {
      operation.locationFailed(ErrorCode.STALE_EXTENT.exception("space given ahead"));
    }

    @Override
    public void issuedUpTo(long position, long nowNanos) {
      // All of it is known.
    }
  }

  /** The way to the datanode; null when it is not known yet on this loop. */
  public StorageEndpoint endpoint() {
    LocatedExtent located = locator().find(0, context().nanoTime());
    return located == null ? null : located.endpoint(context().endpoints());
  }

  /** Writes the value, which fits. */
  public StreamOperation write(ByteBuffer memory, ByteBuffer root, int offset, int length) {
    long now = context().nanoTime();
    StreamOperation operation = newOperation(memory, root, offset, 0, length, now);
    operation.advance(now);
    counters().operation(length, operation.isComplete());
    return operation;
  }

  /** Adds what has been written to what the store has counted, as a stream of its own. */
  public void count() {
    streams().statistics().outputOpened();
    streams().statistics().outputClosed(counters());
  }

  /** The space is that of a node, so its lease says how long the write may go on. */
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

  /** The space that it writes to. */
  public SpaceAhead.Grant grant() {
    return grant;
  }

  @Override
  boolean isWriter() {
    return true;
  }

  @Override
  boolean isImpatient() {
    return true;
  }

  @Override
  CrailException lossAt(long nowNanos) {
    WriteLeases.Held held = lease;
    if (held != null) {
      return held.isValid(nowNanos) ? null : held.loss(file().getPath());
    }
    return grant.validUntilNanos() - nowNanos > 0
        ? null
        : ErrorCode.WRITE_LEASE_LOST.exception(file().getPath() + ": space given ahead");
  }

  @Override
  long pieceDeadlineNanos(long operationDeadlineNanos) {
    WriteLeases.Held held = lease;
    long end = held == null ? grant.validUntilNanos() : held.validUntilNanos();
    return end - operationDeadlineNanos < 0 ? end : operationDeadlineNanos;
  }

  @Override
  void operationEnded(StreamOperation operation, CrailException failure) {
    // Nothing depends on it: the put learns the outcome from the operation.
  }
}

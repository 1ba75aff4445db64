/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.client.datanode.Endpoints;
import io.crail.client.loop.LoopContext;
import io.crail.client.statistics.ByteCounters;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.storage.StorageEndpoint;

/**
 * An extent, the time until which its location may be used, and the way to it. For a writer it also
 * has a final state: either bytes in it are acknowledged, or it is given up before that, and other
 * space takes its place. Neither state changes again.
 */
public final class LocatedExtent {
  private final Extent extent;
  private final long validUntilNanos;

  /** Found once and kept; two threads that race find the same value. */
  private volatile Endpoints.Known datanode;

  /** A location that may be used until a time. */
  public LocatedExtent(Extent extent, long validUntilNanos) {
    this.extent = extent;
    this.validUntilNanos = validUntilNanos;
  }

  private volatile boolean acknowledged;

  /** Why the extent is given up; else null. */
  private volatile CrailException givenUp;

  private volatile long writesEndNanos = Long.MAX_VALUE;

  /** Notes that bytes in the extent are acknowledged; false when it was given up before. */
  public boolean acknowledge() {
    return acknowledged || !isGivenUp() && tryAcknowledge();
  }

  private synchronized boolean tryAcknowledge() {
    acknowledged = givenUp == null;
    return acknowledged;
  }

  /**
   * Gives the extent up, unless that has been done.
   *
   * @param cause the error of a write to it
   * @param nanos when the last write to it must have ended, as the namenode expects
   * @return false when bytes in it are acknowledged, so that nothing can take its place
   */
  public synchronized boolean giveUp(CrailException cause, long nanos) {
    if (!acknowledged && givenUp == null) {
      writesEndNanos = nanos;
      givenUp = cause;
    }
    return !acknowledged;
  }

  /**
   * Whether the error of a write means that its datanode, or its space, is of no use.
   *
   * @param hadTime whether the write had time left, so that a datanode without an answer counts as
   *     silent
   */
  public static boolean isOutOfReach(CrailException cause, boolean hadTime) {
    switch (cause.code()) {
      case UNAVAILABLE:
      case UNKNOWN_DATANODE:
      case DATA_LOST:
      case SPACE_PINNED:
      case NO_SPACE: // of its file system; another datanode may have some
        return true;
      case TIMED_OUT:
        return hadTime;
      default:
        return false;
    }
  }

  /** Whether the error of an access may mean no more than that the datanode is starting again. */
  public static boolean isAway(CrailException cause) {
    return cause.code() == ErrorCode.UNAVAILABLE || cause.code() == ErrorCode.DATA_LOST;
  }

  /** True when other space takes its place. */
  public boolean isGivenUp() {
    return givenUp != null;
  }

  /** The error of the write because of which the extent was given up; else null. */
  CrailException whyGivenUp() {
    return givenUp;
  }

  /** When a write to the extent must have ended, if that is before a deadline. */
  public long writesEndNanos(long deadlineNanos) {
    return isGivenUp() && writesEndNanos - deadlineNanos < 0 ? writesEndNanos : deadlineNanos;
  }

  /**
   * When a write to the extent must have ended. As long as other space can take its place, the
   * datanode must not be silent for long.
   *
   * @param deadlineNanos when the write must have ended in any case
   * @param begunNanos when the write began
   * @param silenceNanos how long the datanode may stay silent after that
   */
  public long writesEndNanos(long deadlineNanos, long begunNanos, long silenceNanos) {
    if (acknowledged) {
      return deadlineNanos;
    }
    long heard = datanode.heardNanos().get();
    long silent = (heard - begunNanos > 0 ? heard : begunNanos) + silenceNanos;
    return writesEndNanos(silent - deadlineNanos < 0 ? silent : deadlineNanos);
  }

  /** Notes that the datanode, whose endpoint has been found, has answered. */
  public void answered(LoopContext context) {
    if (!datanode.endpoint().isLocal()) {
      datanode.heardNanos().lazySet(context.nanoTime());
    }
  }

  /** The extent. */
  public Extent extent() {
    return extent;
  }

  /** Until when the location may be used. */
  public long validUntilNanos() {
    return validUntilNanos;
  }

  /** True while the location may be used. */
  public boolean isValid(long nowNanos) {
    return validUntilNanos - nowNanos > 0;
  }

  /** The endpoint of the extent's datanode, or null when it has not been made yet. */
  public StorageEndpoint endpoint(Endpoints endpoints) {
    Endpoints.Known known = datanode;
    if (known == null) {
      known = endpoints.find(extent.datanode());
      datanode = known;
    }
    return known == null ? null : known.endpoint();
  }

  /** Counts bytes that go to the datanode, whose endpoint has been found. */
  public ByteCounters bytes(boolean isLocal) {
    return isLocal ? datanode.local() : datanode.remote();
  }

  /**
   * Whether the datanode, whose endpoint has been found, refuses to read space that has become
   * another node's. If not, bytes read are good only while this location is valid.
   */
  public boolean isChecked() {
    return datanode.description().traits().checksGeneration();
  }

  /** Whether the datanode, whose endpoint has been found, keeps its bytes when its process ends. */
  public boolean isKept() {
    return datanode.description().keeps();
  }

  /**
   * Whether memory that is new to the datanode, whose endpoint has been found, costs no more than
   * other memory.
   */
  public boolean takesAnyMemory() {
    return datanode.endpoint().isLocal() || datanode.description().traits().takesAnyMemory();
  }
}

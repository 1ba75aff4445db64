/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.common.error.CrailException;
import io.crail.protocol.part.Extent;
import io.crail.storage.StorageEndpoint;

/**
 * An extent, until when its location may be used, and the way to it. For a writer also what has
 * become of it: bytes in it are acknowledged, or it is given up before any is, and other space
 * takes its place. Once one of these holds, it holds for ever.
 */
final class LocatedExtent {
  private final Extent extent;
  private final long validUntilNanos;

  /** Found once and kept; two threads that race find the same. */
  private volatile Endpoints.Known datanode;

  LocatedExtent(Extent extent, long validUntilNanos) {
    this.extent = extent;
    this.validUntilNanos = validUntilNanos;
  }

  private volatile boolean acknowledged;

  /** Why it is given up; else null. */
  private volatile CrailException givenUp;

  private volatile long writesEndNanos = Long.MAX_VALUE;

  /** Notes that bytes in it are acknowledged; false when it was given up before. */
  boolean acknowledge() {
    return acknowledged || !isGivenUp() && tryAcknowledge();
  }

  private synchronized boolean tryAcknowledge() {
    acknowledged = givenUp == null;
    return acknowledged;
  }

  /**
   * Gives it up, unless that has been done.
   *
   * @param cause what a write to it has failed with
   * @param nanos when the last write to it has to be over, as the namenode expects
   * @return false when bytes in it are acknowledged, so that nothing can take its place
   */
  synchronized boolean giveUp(CrailException cause, long nanos) {
    if (!acknowledged && givenUp == null) {
      writesEndNanos = nanos;
      givenUp = cause;
    }
    return !acknowledged;
  }

  /** True when other space takes its place. */
  boolean isGivenUp() {
    return givenUp != null;
  }

  /** What a write to it has failed with, so that it was given up; else null. */
  CrailException whyGivenUp() {
    return givenUp;
  }

  /** When a write to it has to be over, if that is before a deadline. */
  long writesEndNanos(long deadlineNanos) {
    return isGivenUp() && writesEndNanos - deadlineNanos < 0 ? writesEndNanos : deadlineNanos;
  }

  /**
   * When a write to it has to be over. As long as there can be other space in its place, its
   * datanode must not be silent for long.
   *
   * @param deadlineNanos when it has to be over in any case
   * @param begunNanos when it was begun
   * @param silenceNanos how long its datanode may answer nothing, from then on
   */
  long writesEndNanos(long deadlineNanos, long begunNanos, long silenceNanos) {
    if (acknowledged) {
      return deadlineNanos;
    }
    long heard = datanode.heardNanos().get();
    long silent = (heard - begunNanos > 0 ? heard : begunNanos) + silenceNanos;
    return writesEndNanos(silent - deadlineNanos < 0 ? silent : deadlineNanos);
  }

  /** Notes that the datanode, whose endpoint has been found, has answered. */
  void answered(LoopContext context) {
    if (!datanode.endpoint().isLocal()) {
      datanode.heardNanos().lazySet(context.nanoTime());
    }
  }

  Extent extent() {
    return extent;
  }

  long validUntilNanos() {
    return validUntilNanos;
  }

  boolean isValid(long nowNanos) {
    return validUntilNanos - nowNanos > 0;
  }

  /** The endpoint of the extent's datanode, or null when it has not been made yet. */
  StorageEndpoint endpoint(Endpoints endpoints) {
    Endpoints.Known known = datanode;
    if (known == null) {
      known = endpoints.find(extent.datanode());
      datanode = known;
    }
    return known == null ? null : known.endpoint();
  }

  /**
   * Whether the datanode, whose endpoint has been found, refuses to read what has become another
   * node's. Else what was read is good only while this is valid.
   */
  boolean isChecked() {
    return datanode.description().traits().checksGeneration();
  }

  /**
   * Whether memory that was never used with the datanode, whose endpoint has been found, costs no
   * more than other memory.
   */
  boolean takesAnyMemory() {
    return datanode.endpoint().isLocal() || datanode.description().traits().takesAnyMemory();
  }
}

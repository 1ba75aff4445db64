/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.statistics;

import io.crail.CrailStatistics.StatisticsProvider;

/** How many streams were opened and closed, and how many were open at a time. Thread-safe. */
final class OpenStreams implements StatisticsProvider {
  final Direction input = new Direction();
  final Direction output = new Direction();

  /** The streams of one direction. */
  static final class Direction {
    // Guarded by "this".
    private long opened;
    private long closed;
    private long present;
    private long most;

    synchronized void opened() {
      opened++;
      present++;
      most = Math.max(most, present);
    }

    synchronized void closed() {
      closed++;
      present--;
    }

    private synchronized long openedCount() {
      return opened;
    }

    private synchronized long closedCount() {
      return closed;
    }

    synchronized long present() {
      return present;
    }

    private synchronized long most() {
      return most;
    }

    private synchronized void add(long moreOpened, long moreClosed, long otherMost) {
      opened += moreOpened;
      closed += moreClosed;
      most = Math.max(most, otherMost);
    }

    private synchronized void reset() {
      opened = 0;
      closed = 0;
      most = present;
    }
  }

  @Override
  public String providerName() {
    return "core/streams";
  }

  @Override
  public String printStatistics() {
    return "openInput "
        + input.openedCount()
        + ", openOutput "
        + output.openedCount()
        + ", closeInput "
        + input.closedCount()
        + ", closeOutput "
        + output.closedCount()
        + ", maxInput "
        + input.most()
        + ", maxOutput "
        + output.most();
  }

  @Override
  public void mergeStatistics(StatisticsProvider other) {
    if (other instanceof OpenStreams that && that != this) {
      input.add(that.input.openedCount(), that.input.closedCount(), that.input.most());
      output.add(that.output.openedCount(), that.output.closedCount(), that.output.most());
    }
  }

  /** Streams that are open still count, and their number becomes the new maximum. */
  @Override
  public void resetStatistics() {
    input.reset();
    output.reset();
  }
}

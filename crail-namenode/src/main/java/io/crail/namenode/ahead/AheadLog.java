/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ahead;

import io.crail.common.Clock;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.RequestsUnderWay;
import io.crail.namenode.log.Unfinished;
import io.crail.namenode.space.ReturnedSpace;
import io.crail.protocol.codec.Codec;

/**
 * A log that answers do not wait for. It is written as soon as if they did. Answers wait only for
 * records that come first: what others than clients rest on, and numbers that are given out. What a
 * crash can lose are the last changes, of a span of time that is bounded: when the oldest one that
 * is not durable is older, changes are refused until the disk has caught up. Thread-safe.
 */
public final class AheadLog implements CommitLog, ReturnedSpace.Records {
  /** Whether all answers wait for a record. */
  @FunctionalInterface
  public interface First {
    /** Answers for a record that has been made. */
    boolean isFirst(int kind, Object record);
  }

  /**
   * A moment.
   *
   * @param number number of the last record then
   * @param sinceNanos before the oldest record was made that was not durable then
   */
  private record Mark(long number, long nanos, long sinceNanos) {}

  private final ChangeLog log;
  private final Clock clock;
  private final long delayNanos;
  private final First first;
  private volatile long firstNumber;
  private volatile Mark mark;

  /**
   * Makes answers independent of a log.
   *
   * @param delayNanos the span of the changes that a crash can lose
   * @param first says which records answers wait for
   */
  public AheadLog(ChangeLog log, Clock clock, long delayNanos, First first) {
    this.log = log;
    this.clock = clock;
    this.delayNanos = delayNanos;
    this.first = first;
    this.firstNumber = log.last();
    this.mark = new Mark(log.last(), clock.nanoTime(), clock.nanoTime());
  }

  /** The log itself, whose gate waits for all that was changed. */
  public ChangeLog log() {
    return log;
  }

  @Override
  public <T> void append(
      int kind, Codec<T> codec, T record, Unfinished<?> begins, Unfinished<?> ends) {
    log.append(kind, codec, record, begins, ends);
    if (first.isFirst(kind, record)) {
      comesFirst(log.last());
    }
  }

  private synchronized void comesFirst(long number) {
    firstNumber = Math.max(firstNumber, number);
  }

  @Override
  public long position() {
    // Begins the write.
    log.position();
    return log.hasFailed() ? Long.MAX_VALUE : firstNumber;
  }

  @Override
  public long reached() {
    return log.reached();
  }

  @Override
  public long waitingBytes() {
    return log.waitingBytes();
  }

  @Override
  public boolean hasFailed() {
    return log.hasFailed();
  }

  @Override
  public void whenReached(long position, Runnable action) {
    log.whenReached(position, action);
  }

  @Override
  public RequestsUnderWay requests() {
    return log.requests();
  }

  @Override
  public void fail(Throwable cause) {
    log.fail(cause);
  }

  @Override
  public long last() {
    return log.last();
  }

  @Override
  public long durable() {
    return log.reached();
  }

  @Override
  public String refusal() {
    String refusal = log.refusal();
    return refusal == null && isBehind() ? "the disk of its log is too slow" : refusal;
  }

  /** Whether the oldest change that is not durable may be older than the bound. */
  private boolean isBehind() {
    Mark present = mark;
    if (log.reached() >= present.number) {
      present = markAgain();
    }
    return log.reached() < present.number && clock.nanoTime() - present.sinceNanos >= delayNanos;
  }

  /** All up to the mark is durable. What comes behind it was made after it. */
  private synchronized Mark markAgain() {
    long reached = log.reached();
    if (reached >= mark.number) {
      // The time first: what is made in between counts as older than it is.
      long now = clock.nanoTime();
      long last = log.last();
      mark = new Mark(last, now, last == reached ? now : mark.nanos);
    }
    return mark;
  }
}

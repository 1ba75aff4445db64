/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.ClosedSegments;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.Snapshots;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when a snapshot takes the place of the files of a log that are written no more, and lets
 * it be made. Nothing waits for that, and nothing in the namenode that serves is read for it. What
 * a snapshot covers is removed only after it was read again. Thread-safe.
 */
final class Checkpoints implements AutoCloseable {
  /** Makes the files of a snapshot. */
  interface Maker {
    /**
     * Writes them and reads them again.
     *
     * @param name see {@link Snapshots#name}
     * @param isEnded whether there is no use for it any more
     */
    Snapshots.Size make(ClosedSegments closed, String name, BooleanSupplier isEnded)
        throws IOException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(Checkpoints.class);

  /** What rests while a lease may last is in a snapshot; until the next one it has rested. */
  private static final int PAUSE_LEASES = 4;

  private static final long FIRST_RETRY_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long MOST_RETRY_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final long CLOSE_MILLIS = 10_000;

  private final ChangeLog log;
  private final Snapshots snapshots;
  private final Maker maker;
  private final Executor executor;
  private final Clock clock;
  private final RandomGenerator random;
  private final long leastRecords;
  private final long pauseNanos;
  private final String namenode;

  /** Held by who reads or changes the directory. */
  private final ReentrantLock working = new ReentrantLock();

  private volatile boolean isClosed;
  private volatile boolean isUnderWay;
  private volatile long nextNanos;
  private volatile Last last;

  // Written in the executor only.
  private volatile long made;
  private volatile long failures;
  private long retryNanos = FIRST_RETRY_NANOS;

  /**
   * The present snapshot.
   *
   * @param position the number of the last record that it covers
   * @param bytes how many a start had read up to there without it
   * @param millis when it was made, in milliseconds since 1970; 0 if there is none
   * @param tookNanos how long that took; 0 if it was in an earlier start
   */
  private record Last(long position, long bytes, long millis, long tookNanos) {}

  /**
   * Creates it.
   *
   * @param log has the files
   * @param snapshots the present one, which was read
   * @param executor runs one task at a time, which may take long
   * @param leastRecords how many a snapshot takes the place of, at least
   * @param leaseNanos how long space may be used that was freed
   * @param namenode names it in the log
   */
  Checkpoints(
      ChangeLog log,
      Snapshots snapshots,
      Maker maker,
      Executor executor,
      Clock clock,
      RandomGenerator random,
      long leastRecords,
      long leaseNanos,
      String namenode) {
    this.log = log;
    this.snapshots = snapshots;
    this.maker = maker;
    this.executor = executor;
    this.clock = clock;
    this.random = random;
    this.leastRecords = leastRecords;
    this.pauseNanos = PAUSE_LEASES * leaseNanos;
    this.namenode = namenode;
    this.nextNanos = clock.nanoTime();
    this.last = new Last(snapshots.position(), 0, snapshots.millis(), 0);
  }

  /**
   * How a log stands.
   *
   * @param of the one that answers wait for: this one, or one of which this is a copy
   */
  LogStanding standing(CommitLog of) {
    Last present = last;
    String refusal = of.refusal();
    return new LogStanding(
        of.last(),
        of.reached(),
        log.last() - present.position,
        log.counters().bytes() - present.bytes,
        present.millis,
        present.tookNanos,
        made,
        failures,
        of.waitingBytes(),
        log.counters().forces(),
        log.counters().forceNanos(),
        refusal == null ? "" : refusal);
  }

  /**
   * Begins to make a snapshot, if it is worth it.
   *
   * @param nodes how many the namenode has
   */
  void tick(long nodes) {
    if (isUnderWay || isClosed || clock.nanoTime() - nextNanos < 0) {
      return;
    }
    ClosedSegments closed = log.closed();
    long records = closed.last() - last.position;
    if (records > 0 && records >= Math.max(leastRecords, nodes / 2)) {
      isUnderWay = true;
      long begun = clock.nanoTime();
      String name = Snapshots.name(closed, random.nextInt());
      later(name, () -> make(closed, name, begun));
    }
  }

  /** A part of the work. */
  private interface Step {
    void run() throws IOException;
  }

  /** Each step is a task of its own: in a simulation the host may die between them. */
  private void later(String name, Step step) {
    executor.execute(() -> run(name, step));
  }

  private void run(String name, Step step) {
    working.lock();
    try {
      if (!isClosed) {
        step.run();
      }
    } catch (CancellationException e) {
      LOG.info("{} ends while it writes a snapshot", namenode);
    } catch (IOException | RuntimeException | Error e) {
      failed(name, e);
    } finally {
      working.unlock();
    }
  }

  private void make(ClosedSegments closed, String name, long begun) throws IOException {
    Snapshots.Size size = maker.make(closed, name, () -> isClosed);
    later(name, () -> mark(closed, name, begun, size));
  }

  private void mark(ClosedSegments closed, String name, long begun, Snapshots.Size size)
      throws IOException {
    final long covered = closed.last() - last.position;
    snapshots.mark(name, closed, clock);
    long took = clock.nanoTime() - begun;
    last = new Last(closed.last(), closed.bytes(), snapshots.millis(), took);
    made++;
    LOG.info(
        "{} has a snapshot up to record {} of its log: {} records, {} bytes, in place of {} records;"
            + " it took {} ms",
        namenode,
        closed.last(),
        size.records(),
        size.bytes(),
        covered,
        took / 1_000_000);
    later(name, () -> purge(begun));
  }

  private void purge(long begun) throws IOException {
    snapshots.purge();
    retryNanos = FIRST_RETRY_NANOS;
    nextNanos = begun + pauseNanos;
    isUnderWay = false;
  }

  /** The log goes on, and a start can read it as before. */
  private void failed(String name, Throwable cause) {
    failures++;
    LOG.warn(
        "{} could not write a snapshot, {}; the next attempt is in {} s",
        namenode,
        name,
        retryNanos / 1_000_000_000,
        cause);
    try {
      snapshots.purge();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} could not remove what is left of {}: {}", namenode, name, e.toString());
    }
    nextNanos = clock.nanoTime() + retryNanos;
    retryNanos = Math.min(2 * retryNanos, MOST_RETRY_NANOS);
    isUnderWay = false;
  }

  /** Ends what is under way; the next start removes what is left of it. */
  @Override
  public void close() {
    isClosed = true;
    try {
      if (!working.tryLock(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.warn("{} still writes a snapshot", namenode);
        return;
      }
      working.unlock();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

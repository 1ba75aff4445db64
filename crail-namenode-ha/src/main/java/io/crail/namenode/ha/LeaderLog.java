/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Clock;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.LogPages;
import io.crail.namenode.log.RecordBytes;
import io.crail.namenode.log.RequestsUnderWay;
import io.crail.namenode.log.Unfinished;
import io.crail.namenode.log.Waiters;
import io.crail.protocol.codec.Codec;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The log of a peer that leads: its changes become entries, and answers wait until a majority of
 * the peers has them. Each record is encoded at once. One thread at a time sends what there is, and
 * as few entries are under way as keep all peers busy, so that many changes share one.
 *
 * <p>An answer also waits until this peer is known to have led after the answer was made, so a
 * reader never sees what another leader has changed meanwhile. An entry that was agreed on proves
 * that no other peer is elected for a while after it was sent: a <i>lease</i> (Gray and Cheriton,
 * 1989). While no changes keep it up, readers cause an entry without a change. Thread-safe.
 */
final class LeaderLog implements CommitLog {
  private static final int MOST_UNDER_WAY = 3;

  /** Bytes that are sent at once while another entry is under way. Fewer wait for its end. */
  private static final int WORTH_AN_ENTRY = 32 << 10;

  /**
   * How long an entry may be under way. A leader whose disk stands still is never deposed: it goes
   * on to say that it is there, but Ratis agrees on nothing that it has not written itself.
   */
  static final int STALL_SECONDS = 6;

  /** Waiting bytes above which changes are refused; requests that are being served come on top. */
  private static final long MOST_WAITING = 16 << 20;

  /** Brings entries to the log that the peers share, in the order of the calls. */
  @FunctionalInterface
  interface Sender {
    /**
     * Sends an entry, whose bytes are in their place in this peer's log when this returns.
     *
     * @param done called by any thread; with null when the peers have agreed on it
     */
    void send(ByteBuffer entry, Consumer<Throwable> done);
  }

  private final long term;
  private final Clock clock;
  private final Executor thread;
  private final Sender sender;
  private final long leaseNanos;
  private final Supplier<String> shortage;
  private final Runnable ended;
  private final Runnable failed;

  // Under the monitor.
  private final LogPages pages;
  private final ArrayDeque<Long> sentNanos = new ArrayDeque<>();
  private int underWay;
  private boolean isScheduled;
  private boolean isPaused;
  private Long stalledNanos;

  private final RequestsUnderWay requests = new RequestsUnderWay();
  private final Waiters waiters = new Waiters();
  private volatile long logged;
  private volatile long reached;
  private volatile long leaseEnd;
  private volatile boolean wasAsked;
  private volatile boolean mustWait;
  private volatile boolean isBehind;
  private volatile String end;

  /**
   * Begins to lead.
   *
   * @param last the number of the last record
   * @param thread runs one task at a time
   * @param leaseNanos how long no other peer leads after an entry was sent
   * @param shortage says why no more can be taken; null if it can
   * @param ended called once in the executor when it has ended
   * @param failed called when a record could not be encoded, after which nothing is certain
   */
  LeaderLog(
      long term,
      long last,
      Clock clock,
      Executor thread,
      Sender sender,
      long leaseNanos,
      Supplier<String> shortage,
      Runnable ended,
      Runnable failed) {
    this.term = term;
    this.logged = last;
    this.reached = last;
    this.pages = new LogPages(last);
    this.clock = clock;
    this.thread = thread;
    this.sender = sender;
    this.leaseNanos = leaseNanos;
    this.leaseEnd = clock.nanoTime();
    this.shortage = shortage;
    this.ended = ended;
    this.failed = failed;
  }

  long term() {
    return term;
  }

  @Override
  public long last() {
    return logged;
  }

  @Override
  public synchronized long waitingBytes() {
    return pages.waitingBytes();
  }

  /** How many entries are sent, and not agreed on yet. */
  synchronized int underWay() {
    return underWay;
  }

  @Override
  public <T> void append(
      int kind, Codec<T> codec, T record, Unfinished<?> begins, Unfinished<?> ends) {
    try {
      encode(kind, codec, record, begins, ends);
    } catch (RuntimeException | Error e) {
      // The change may be made, and is in no record.
      fail(e);
      throw e;
    }
  }

  private synchronized <T> void encode(
      int kind, Codec<T> codec, T record, Unfinished<?> begins, Unfinished<?> ends) {
    if (end != null) {
      // Nothing will be acknowledged any more.
      logged++;
      return;
    }
    pages.add(kind, codec, record, begins, ends);
    logged = pages.last();
    isBehind = pages.waitingBytes() > MOST_WAITING;
    schedule();
  }

  private void schedule() {
    boolean isDue =
        underWay == 0
            || underWay < MOST_UNDER_WAY
                && (pages.waitingBytes() >= WORTH_AN_ENTRY || needsLease());
    if (isDue && !isScheduled && !pages.isEmpty() && !isPaused) {
      isScheduled = true;
      thread.execute(this::sendNext);
    }
  }

  /** Whether readers will soon wait, unless another entry is sent. */
  private boolean needsLease() {
    return wasAsked && leaseEnd - clock.nanoTime() < leaseNanos / 2;
  }

  /** Lets what there is be sent. */
  private synchronized void endPage() {
    pages.end();
  }

  private void sendNext() {
    requests.between(this::endPage);
    LogPages.Page page;
    synchronized (this) {
      isScheduled = false;
      if (end != null || isPaused || pages.isEmpty()) {
        return;
      }
      page = pages.take();
      // What was unfinished has got records.
      logged = Math.max(logged, pages.last());
      isBehind = pages.waitingBytes() > MOST_WAITING;
      underWay++;
      sentNanos.addLast(clock.nanoTime());
    }
    sender.send(LogEntry.of(term, page.first(), page.count(), page.records()), this::sent);
    synchronized (this) {
      pages.giveBack(page);
      schedule();
    }
  }

  private void sent(Throwable problem) {
    if (problem != null) {
      end("an entry was not agreed on: " + problem);
      return;
    }
    synchronized (this) {
      underWay--;
      schedule();
    }
  }

  /** The peers have agreed on the next entry of this log, with all records up to a number. */
  void agreed(long last) {
    synchronized (this) {
      Long sent = sentNanos.pollFirst();
      if (sent != null) {
        leaseEnd = sent + leaseNanos;
      }
    }
    reached = last;
    letPass();
  }

  @Override
  public long position() {
    if (end != null) {
      return Long.MAX_VALUE;
    }
    if (!isLeased()) {
      renew();
    }
    return logged;
  }

  private boolean isLeased() {
    if (!wasAsked) {
      wasAsked = true;
    }
    return hasLease();
  }

  /** Whether no other peer leads for certain. */
  boolean hasLease() {
    return !mustWait && clock.nanoTime() - leaseEnd < 0;
  }

  /** Sees to it that an entry follows which is sent after this call. */
  private synchronized void renew() {
    if (pages.isEmpty()) {
      RecordBytes.appendNothing(this);
    }
  }

  /** Keeps the lease up while it is used; called about every 50 ms. */
  void tick() {
    if (needsLease()) {
      renew();
      wasAsked = false;
    }
  }

  /** As {@link #isStalled}, but true only once for an entry. */
  synchronized boolean isNewlyStalled() {
    Long oldest = sentNanos.peekFirst();
    boolean isNew = isStalled() && !oldest.equals(stalledNanos);
    if (isNew) {
      stalledNanos = oldest;
    }
    return isNew;
  }

  /** Whether an entry has been under way for too long. */
  synchronized boolean isStalled() {
    Long oldest = sentNanos.peekFirst();
    return oldest != null && clock.nanoTime() - oldest >= TimeUnit.SECONDS.toNanos(STALL_SECONDS);
  }

  /**
   * Sends nothing more for the time being, and lets no further answer leave: another peer may lead
   * at any moment, without waiting for the end of the lease.
   *
   * @return whether all that was sent is agreed on
   */
  synchronized boolean pause() {
    isPaused = true;
    mustWait = true;
    return underWay == 0;
  }

  /** Goes on after a pause. */
  synchronized void goOn() {
    isPaused = false;
    // Another peer may have been elected meanwhile, whatever the lease was.
    leaseEnd = clock.nanoTime();
    mustWait = false;
    schedule();
  }

  @Override
  public long reached() {
    return reached;
  }

  @Override
  public boolean isForAll() {
    return true;
  }

  @Override
  public boolean hasFailed() {
    return end != null;
  }

  @Override
  public void whenReached(long awaited, Runnable action) {
    waiters.add(awaited, action);
    if (awaited <= reached || end != null) {
      letPass();
    }
  }

  private void letPass() {
    waiters.letPass(end == null ? reached : Long.MAX_VALUE);
  }

  @Override
  public RequestsUnderWay requests() {
    return requests;
  }

  @Override
  public String refusal() {
    // After the end all is served, and no answer leaves: the client asks another peer.
    if (end != null) {
      return null;
    }
    return isBehind ? "its standbys are too slow" : shortage.get();
  }

  /** This peer leads no more: nothing that waits is ever acknowledged. Returns whether it did. */
  boolean end(String why) {
    synchronized (this) {
      if (end != null) {
        return false;
      }
      end = why;
    }
    letPass();
    thread.execute(ended);
    return true;
  }

  @Override
  public void fail(Throwable cause) {
    synchronized (this) {
      if (end != null) {
        return;
      }
      end = cause.toString();
    }
    // Elsewhere, since the caller may have locks that the actions wait for.
    thread.execute(
        () -> {
          try {
            letPass();
          } finally {
            failed.run();
          }
        });
  }
}

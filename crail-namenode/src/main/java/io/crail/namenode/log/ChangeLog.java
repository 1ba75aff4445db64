/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.Clock;
import io.crail.namenode.log.LogDirectory.LogFile;
import io.crail.namenode.log.LogPages.Page;
import io.crail.protocol.codec.Codec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the changes of a namenode. Each gets the next number when it is made, and is encoded into
 * a page of memory at once, under the locks of what it changes. A page is written when somebody
 * waits for it, or when it is full. A few writes are under way at a time, and the gate opens as far
 * as all before it is durable. What is changed while there are so many goes together with the next
 * one, so the more there is to do, the more go together.
 *
 * <p>Files have a fixed length, and are filled with zeros before they are used: then a force writes
 * no metadata of the file system, and there is space for what was admitted. While the next file
 * cannot be made, changes are refused before this one is full. After a failed write or force
 * nothing is known of what is on the disk, so nothing is written any more, and no answer that waits
 * leaves. Thread-safe.
 */
public final class ChangeLog implements CommitLog, AutoCloseable {
  /** The kinds of records besides those of {@link io.crail.namenode.change.ChangeRecords}. */
  public static final int FIRST_OWN_KIND = 64;

  /** Bytes of a file. */
  public static final long SEGMENT_BYTES = 64 << 20;

  /** Writes that are under way at a time. */
  public static final int MOST_WRITES = 2;

  private static final Logger LOG = LoggerFactory.getLogger(ChangeLog.class);

  /** Waiting bytes above which changes are refused; requests that are being served come on top. */
  private static final long MOST_WAITING = 16 << 20;

  private static final long RETRY_MILLIS = 1_000;
  private static final long CLOSE_PAUSE_MILLIS = 100;
  private static final int CLOSE_PAUSES = 100;

  private final LogDirectory directory;
  private final Clock clock;
  private final Executor thread;
  private final Executor preparing;
  private final Runnable failed;
  private final long segmentBytes;
  private final long mostWaiting;
  private final long nanosBefore;
  private final long startNanos;

  // Under the monitor.
  private final LogPages pages;

  /** What is being written, in its order. */
  private final ArrayDeque<Page> underWay = new ArrayDeque<>();

  private final LogCounters counters;
  private LogFile file;
  private long segment;
  private long position;

  /** The number of the last record that is written, or being written. */
  private long taken;

  /** A task is to take the next page. */
  private boolean isScheduled;

  private boolean isClosed;
  private LogFile next;
  private boolean isPreparing;
  private long triedNanos;
  private long nextSegment;

  private final RequestsUnderWay requests = new RequestsUnderWay();
  private final Waiters waiters = new Waiters();
  private volatile long logged;
  private volatile long reached;

  /** The number up to which somebody waits. Changes under the monitor. */
  private volatile long wanted;

  private volatile String failure;

  /** Why there is no next file; null if there is one, or will be. */
  private volatile String shortage;

  private volatile boolean isLow;
  private volatile boolean isBehind;
  private volatile ClosedSegments closed;

  /** Where a page is written. */
  private record Target(Page page, LogFile file, long position, LogFrame.Header header) {}

  /**
   * Goes on with a log.
   *
   * @param present what was read of it
   * @param thread runs tasks that write, {@link #MOST_WRITES} at a time if it can
   * @param preparing runs tasks that make files ahead
   * @param failed called once, by any thread, when nothing can be written any more
   * @param segmentBytes bytes of a file
   */
  public ChangeLog(
      LogDirectory directory,
      LogReader present,
      Clock clock,
      Executor thread,
      Executor preparing,
      Runnable failed,
      long segmentBytes)
      throws IOException {
    this.directory = directory;
    this.clock = clock;
    this.thread = thread;
    this.preparing = preparing;
    this.failed = failed;
    this.segmentBytes = segmentBytes;
    this.mostWaiting = Math.min(MOST_WAITING, segmentBytes / 4);
    this.nanosBefore = present.nanos();
    this.startNanos = clock.nanoTime();
    this.logged = present.last();
    this.reached = present.last();
    this.pages = new LogPages(present.last());
    this.taken = present.last();
    this.wanted = present.last();
    this.segment = present.lastSegment() + 1;
    this.counters = new LogCounters(present.bytes());
    this.closed = new ClosedSegments(present.lastSegment(), present.last(), present.bytes());
    for (String unused : present.unused()) {
      directory.delete(unused);
    }
    this.file = directory.create(LogSegment.name(segment), segmentBytes);
    this.nextSegment = segment + 1;
    prepareNext();
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
    if (isClosed || failure != null) {
      // Nothing will be acknowledged any more.
      logged++;
      return;
    }
    pages.add(kind, codec, record, begins, ends);
    logged = pages.last();
    if (pages.waitingBytes() > mostWaiting) {
      isBehind = true;
    }
    if (pages.lastFull() > wanted) {
      want(pages.lastFull());
    }
  }

  private synchronized void want(long number) {
    if (number > wanted) {
      wanted = number;
    }
    schedule();
  }

  private void schedule() {
    boolean mayTake = !isScheduled && underWay.size() < MOST_WRITES && failure == null;
    if (mayTake && taken < wanted && !pages.isEmpty()) {
      isScheduled = true;
      thread.execute(this::write);
    }
  }

  @Override
  public long last() {
    return logged;
  }

  @Override
  public long position() {
    long position = logged;
    if (position > wanted) {
      want(position);
    }
    return position;
  }

  @Override
  public long reached() {
    return reached;
  }

  @Override
  public boolean hasFailed() {
    return failure != null;
  }

  @Override
  public void whenReached(long awaited, Runnable action) {
    waiters.add(awaited, action);
    if (awaited <= reached || failure != null) {
      letPass();
    }
  }

  private void letPass() {
    waiters.letPass(failure == null ? reached : Long.MAX_VALUE);
  }

  @Override
  public RequestsUnderWay requests() {
    return requests;
  }

  @Override
  public String refusal() {
    if (isBehind) {
      return "the disk of its log is too slow";
    }
    return isLow ? shortage : null;
  }

  /** The files that are written no more. */
  public ClosedSegments closed() {
    return closed;
  }

  /** What it has written so far. */
  public LogCounters counters() {
    return counters;
  }

  @Override
  public synchronized long waitingBytes() {
    return pages.waitingBytes();
  }

  /** Why nothing is written any more; null as long as the log works. */
  public String failure() {
    return failure;
  }

  private void write() {
    try {
      requests.between(this::endPage);
      Target target = take();
      if (target != null) {
        Page page = target.page;
        ByteBuffer bytes = page.seal(target.header);
        long begun = clock.nanoTime();
        target.file.commit(bytes, target.position, problem -> written(page, begun, problem));
      }
    } catch (IOException | RuntimeException | Error e) {
      fail(e);
    }
  }

  /** Lets the page that is to be written end here. */
  private synchronized void endPage() {
    pages.end();
  }

  /**
   * Takes the next page, and its place; null if there is none, or it has to wait. After an error
   * nothing is taken any more.
   */
  private synchronized Target take() throws IOException {
    int padded = pages.isEmpty() ? 0 : LogFrame.padded(pages.nextLength());
    // A page is left for the end of the log.
    boolean hasRoom = padded <= segmentBytes - LogFrame.PAGE - position;
    // The next file has nothing before all of this one is durable.
    if (padded == 0 || failure != null || (!hasRoom && !underWay.isEmpty())) {
      isScheduled = false;
      return null;
    }
    Page page = pages.take();
    // What was unfinished has got records.
    logged = Math.max(logged, pages.last());
    taken = page.last();
    if (!hasRoom) {
      long ended = segment;
      roll(padded);
      closed = new ClosedSegments(ended, page.first() - 1, counters.bytes());
    }
    counters.wrote(padded);
    Target target = new Target(page, file, position, header(page));
    underWay.addLast(page);
    position += padded;
    // All that is admitted until then has room in the rest.
    isLow = segmentBytes - position < segmentBytes / 2;
    isScheduled = false;
    schedule();
    return target;
  }

  private void written(Page page, long begunNanos, IOException problem) {
    if (problem != null) {
      fail(problem);
      return;
    }
    synchronized (this) {
      page.isWritten = true;
      counters.committed(clock.nanoTime() - begunNanos);
      while (failure == null && !underWay.isEmpty() && underWay.peekFirst().isWritten) {
        Page first = underWay.pollFirst();
        reached = first.last();
        pages.giveBack(first);
      }
      isBehind &= pages.waitingBytes() > mostWaiting;
      notifyAll();
    }
    letPass();
    want(wanted);
  }

  private LogFrame.Header header(Page page) {
    return new LogFrame.Header(
        page.length(),
        page.count(),
        segment,
        page.first(),
        reached,
        clock.currentTimeMillis(),
        nanosBefore + clock.nanoTime() - startNanos);
  }

  /** Goes on in the next file, which has room for the next frame and the end of the log. */
  private void roll(int padded) throws IOException {
    int needed = padded + LogFrame.PAGE;
    file.close();
    file = takeNext();
    if (file.length() < needed) {
      file.close();
      directory.delete(LogSegment.name(segment));
      file = directory.create(LogSegment.name(segment), needed);
    }
    position = 0;
    isLow = false;
    prepareNext();
  }

  /** The next file. As long as there is no space for it, all that is logged waits. */
  private synchronized LogFile takeNext() throws IOException {
    while (next == null && (!isClosed || isPreparing) && failure == null) {
      if (!isPreparing) {
        prepareNext();
      }
      pause(RETRY_MILLIS);
    }
    if (failure != null) {
      throw new IOException(failure);
    }
    if (next == null) {
      throw new IOException(shortage == null ? "the log is closed" : shortage);
    }
    LogFile prepared = next;
    next = null;
    segment = nextSegment++;
    return prepared;
  }

  private boolean isBusy() {
    boolean isWriting = isScheduled || !underWay.isEmpty() || !pages.isEmpty();
    return failure == null && (isWriting || isPreparing);
  }

  private void pause(long millis) throws IOException {
    try {
      wait(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted");
    }
  }

  /** Writes what no answer waits for. Tries again to make the next file, if that has failed. */
  public synchronized void tick() {
    want(logged);
    if (next == null
        && !isPreparing
        && !isClosed
        && clock.nanoTime() - triedNanos >= RETRY_MILLIS * 1_000_000) {
      prepareNext();
    }
  }

  private synchronized void prepareNext() {
    isPreparing = true;
    triedNanos = clock.nanoTime();
    String name = LogSegment.name(nextSegment);
    preparing.execute(() -> prepare(name));
  }

  private void prepare(String name) {
    LogFile made = null;
    String problem = null;
    try {
      made = directory.create(name, segmentBytes);
    } catch (IOException | RuntimeException | Error e) {
      problem = "no space for its log: " + e.getMessage();
      LOG.warn("the next file of the log, {}: {}", name, e.toString());
    }
    synchronized (this) {
      shortage = problem;
      next = made;
      isPreparing = false;
      notifyAll();
    }
  }

  /** Writes nothing more; what is not written is lost. For tests. */
  public void abandon() {
    synchronized (this) {
      failure = "abandoned";
      notifyAll();
    }
    letPass();
  }

  @Override
  public void fail(Throwable cause) {
    synchronized (this) {
      if (failure != null) {
        return;
      }
      failure = cause.toString();
      notifyAll();
    }
    LOG.error("the log has failed at record {}; nothing is written any more", reached + 1, cause);
    // Elsewhere, since the caller may have locks that the actions wait for.
    preparing.execute(
        () -> {
          try {
            letPass();
          } finally {
            failed.run();
          }
        });
  }

  /**
   * Waits until all is written, for ten seconds at most. What is logged from now on is dropped. The
   * executors can be ended after it.
   */
  @Override
  public void close() throws IOException {
    synchronized (this) {
      want(logged);
      isClosed = true;
      notifyAll();
      for (int i = 0; i < CLOSE_PAUSES && isBusy(); i++) {
        pause(CLOSE_PAUSE_MILLIS);
      }
      if (next != null) {
        next.close();
        if (failure == null) {
          directory.delete(LogSegment.name(nextSegment));
        }
      }
      seal();
    }
    file.close();
  }

  /**
   * Writes a frame without records, since only a later one says that a frame was durable. It also
   * says that nothing is missing.
   */
  private void seal() throws IOException {
    Page page = Page.empty(reached + 1);
    boolean isAll = failure == null && underWay.isEmpty() && pages.isEmpty();
    if (isAll && position > 0 && position < file.length()) {
      file.commit(page.seal(header(page)), position, problem -> {});
    }
  }
}

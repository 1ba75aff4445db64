/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.Clock;
import io.crail.namenode.change.Change;
import io.crail.namenode.change.ChangeSink;
import io.crail.namenode.log.LogDirectory.LogFile;
import io.crail.protocol.codec.Codec;
import io.crail.rpc.CommitGate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the changes of a namenode. Each gets the next number when it is made, and is encoded into
 * a page of memory at once, under the locks of what it changes. One thread at a time writes all
 * pages that there are, forces them, and opens the gate for the answers that wait. What is changed
 * in the meantime goes with the next write, so the more there is to do, the more go together.
 *
 * <p>Files have a fixed length, and are filled with zeros before they are used: then a force writes
 * no metadata of the file system, and there is space for what was admitted. While the next file
 * cannot be made, changes are refused before this one is full. After a failed write or force
 * nothing is known of what is on the disk, so nothing is written any more, and no answer that waits
 * leaves. Thread-safe.
 */
public final class ChangeLog implements ChangeSink, CommitGate, RecordTarget, AutoCloseable {
  /** The kinds of records besides those of {@link io.crail.namenode.change.ChangeRecords}. */
  public static final int FIRST_OWN_KIND = 64;

  /** Bytes of a file. */
  public static final long SEGMENT_BYTES = 64 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(ChangeLog.class);

  private static final int PAGE_BYTES = 256 << 10;
  private static final int MOST_SPARE_PAGES = 8;

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
  private final boolean waitsForSpace;
  private final RecordPacking packing;
  private final long nanosBefore;
  private final long startNanos;

  // Under the monitor.
  private Page filling;
  private ArrayDeque<Page> full = new ArrayDeque<>();
  private final ArrayDeque<Page> spare = new ArrayDeque<>();
  private long waitingBytes;
  private boolean isScheduled;
  private boolean isClosed;
  private LogFile next;
  private boolean isPreparing;
  private long triedNanos;
  private long nextSegment;

  private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
  private volatile long logged;
  private volatile long reached;
  private volatile String failure;

  /** Why there is no next file; null if there is one, or will be. */
  private volatile String shortage;

  private volatile boolean isLow;
  private volatile boolean isBehind;

  // In the writing thread.
  private LogFile file;
  private long segment;
  private long position;

  private record Waiter(long position, Runnable action) {}

  /** Some records that are written together, behind room for their header. */
  private static final class Page {
    final ByteBuffer bytes;
    long first;
    int count;

    Page(int capacity) {
      bytes = ByteBuffer.allocateDirect(capacity);
    }

    void begin(long number) {
      bytes.clear().position(LogFrame.HEADER);
      bytes.order(ByteOrder.LITTLE_ENDIAN);
      first = number;
      count = 0;
    }
  }

  /** A log that is written at once, and fails if there is no space for it. */
  ChangeLog(
      LogDirectory directory, LogReader present, Clock clock, Executor thread, long segmentBytes)
      throws IOException {
    this(directory, present, clock, thread, Runnable::run, () -> {}, segmentBytes, false);
  }

  /**
   * Goes on with a log.
   *
   * @param present what was read of it
   * @param thread runs one task at a time; they write
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
    this(directory, present, clock, thread, preparing, failed, segmentBytes, true);
  }

  private ChangeLog(
      LogDirectory directory,
      LogReader present,
      Clock clock,
      Executor thread,
      Executor preparing,
      Runnable failed,
      long segmentBytes,
      boolean waitsForSpace)
      throws IOException {
    this.waitsForSpace = waitsForSpace;
    this.packing = waitsForSpace ? null : new RecordPacking();
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
    this.segment = present.lastSegment() + 1;
    for (String unused : present.unused()) {
      directory.delete(unused);
    }
    this.file = directory.create(LogSegment.name(segment), segmentBytes);
    this.nextSegment = segment + 1;
    prepareNext();
  }

  // Records.

  @Override
  public void changed(Change change) {
    append(change.number(), codec(change), change);
  }

  @SuppressWarnings("unchecked")
  private static Codec<Change> codec(Change change) {
    return (Codec<Change>) change.codec();
  }

  @Override
  public <T> void append(int kind, Codec<T> codec, T record) {
    try {
      encode(kind, codec, record);
    } catch (RuntimeException | Error e) {
      // The change may be made, and is in no record.
      fail(e);
      throw e;
    }
  }

  private synchronized <T> void encode(int kind, Codec<T> codec, T record) {
    if (isClosed || failure != null) {
      // Nothing will be acknowledged any more.
      logged++;
      return;
    }
    int length = codec.length(record);
    if (length > LogFrame.MOST / 2) {
      throw new IllegalArgumentException("a record of " + length + " bytes");
    }
    Page page = pageFor(packing == null ? LogFrame.OF_RECORD + length : RecordPacking.most(length));
    ByteBuffer bytes = page.bytes;
    if (packing != null) {
      packing.append(bytes, kind, codec, record);
    } else {
      int at = bytes.position();
      bytes.putInt(at, length);
      bytes.put(at + Integer.BYTES, (byte) kind);
      codec.encode(record, bytes, at + LogFrame.OF_RECORD);
      bytes.position(at + LogFrame.OF_RECORD + length);
    }
    page.count++;
    waitingBytes += LogFrame.OF_RECORD + length;
    if (waitingBytes > mostWaiting) {
      isBehind = true;
    }
    logged++;
    schedule();
  }

  private Page pageFor(int bytes) {
    if (filling != null && filling.bytes.remaining() >= bytes) {
      return filling;
    }
    if (filling != null) {
      full.addLast(filling);
    }
    int needed = LogFrame.padded(bytes);
    filling = needed > PAGE_BYTES || spare.isEmpty() ? null : spare.pollLast();
    if (filling == null) {
      filling = new Page(Math.max(PAGE_BYTES, needed));
    }
    filling.begin(logged + 1);
    return filling;
  }

  private void schedule() {
    if (!isScheduled) {
      isScheduled = true;
      thread.execute(this::write);
    }
  }

  // The gate.

  @Override
  public long position() {
    return logged;
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
    Waiter waiter = new Waiter(awaited, action);
    waiters.add(waiter);
    if ((awaited <= reached || failure != null) && waiters.remove(waiter)) {
      action.run();
    }
  }

  private void letPass() {
    for (Waiter waiter : waiters) {
      if ((waiter.position() <= reached || failure != null) && waiters.remove(waiter)) {
        waiter.action().run();
      }
    }
  }

  /** Why no changes may be made now; null if they may. */
  public String refusal() {
    if (isBehind) {
      return "the disk of its log is too slow";
    }
    return isLow ? shortage : null;
  }

  /** Why nothing is written any more; null as long as the log works. */
  public String failure() {
    return failure;
  }

  // Writing.

  private void write() {
    ArrayDeque<Page> pages;
    synchronized (this) {
      if (failure != null) {
        return;
      }
      pages = full;
      if (filling != null) {
        pages.addLast(filling);
      }
      full = new ArrayDeque<>();
      filling = null;
      waitingBytes = 0;
    }
    long last = reached;
    try {
      for (Page page : pages) {
        write(page);
        last = page.first + page.count - 1;
      }
      file.force();
    } catch (IOException | RuntimeException | Error e) {
      fail(e);
      return;
    }
    reached = last;
    isBehind = false;
    letPass();
    synchronized (this) {
      for (Page page : pages) {
        if (page.bytes.capacity() == PAGE_BYTES && spare.size() < MOST_SPARE_PAGES) {
          spare.addLast(page);
        }
      }
      isScheduled = false;
      if (filling != null || !full.isEmpty()) {
        schedule();
      }
      notifyAll();
    }
  }

  private void write(Page page) throws IOException {
    int length = page.bytes.position() - LogFrame.HEADER;
    LogFrame.Header header = header(page, length, segment);
    if (header.padded() > segmentBytes - position) {
      roll(header.padded());
      header = header(page, length, segment);
    }
    LogFrame.seal(page.bytes, header);
    ByteBuffer bytes = page.bytes;
    while (bytes.position() < header.padded()) {
      bytes.put((byte) 0);
    }
    file.write(bytes.flip(), position);
    position += header.padded();
    // All that is admitted until then has room in the rest.
    isLow = segmentBytes - position < segmentBytes / 2;
  }

  private LogFrame.Header header(Page page, int length, long in) {
    return new LogFrame.Header(
        length,
        page.count,
        in,
        page.first,
        reached,
        clock.currentTimeMillis(),
        nanosBefore + clock.nanoTime() - startNanos);
  }

  /** Goes on in the next file, which has room for the next frame. */
  private void roll(int needed) throws IOException {
    file.force();
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
    while (next == null && !isClosed) {
      if (!isPreparing) {
        if (!waitsForSpace) {
          throw new IOException(shortage);
        }
        prepareNext();
      }
      pause(RETRY_MILLIS);
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
    return failure == null && (isScheduled || isPreparing);
  }

  private void pause(long millis) throws IOException {
    try {
      wait(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted");
    }
  }

  /** Tries again to make the next file, if that has failed. */
  public synchronized void tick() {
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

  /** Nothing is written any more, since what is in the log may not be what there is. */
  public void fail(Throwable cause) {
    LOG.error("the log has failed at record {}; nothing is written any more", reached + 1, cause);
    synchronized (this) {
      if (failure != null) {
        return;
      }
      failure = cause.toString();
      notifyAll();
    }
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
    }
    file.close();
  }
}

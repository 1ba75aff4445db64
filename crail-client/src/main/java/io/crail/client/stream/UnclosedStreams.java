/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the streams that a program has dropped without closing them, once the collector has, and
 * gives back what they have. That is done when another stream is opened, when memory is short, and
 * when leases are renewed. Thread-safe.
 */
public final class UnclosedStreams {
  /** With debug logging of this name, the places where such streams were opened are logged. */
  private static final Logger LOG = LoggerFactory.getLogger(UnclosedStreams.class);

  /** Pause after a collection that found nothing, and after one that has found dropped streams. */
  private static final long LONG_PAUSE_NANOS = 10_000_000_000L;

  private static final long SHORT_PAUSE_NANOS = 100_000_000L;

  private final boolean watches;
  private final ReferenceQueue<Object> collected = new ReferenceQueue<>();
  private final Set<Entry> open = ConcurrentHashMap.newKeySet();
  private final AtomicLong found = new AtomicLong();
  private final AtomicLong nextCollection = new AtomicLong(System.nanoTime());

  /**
   * Knows no stream yet.
   *
   * @param watches false when runs have to be repeatable, which the collector is not
   */
  public UnclosedStreams(boolean watches) {
    this.watches = watches;
  }

  /** An open stream. */
  public final class Entry extends PhantomReference<Object> {
    private final String path;
    private final Runnable giveBack;
    private final Throwable place;

    private Entry(Object stream, String path, Runnable giveBack, Throwable place) {
      super(stream, collected);
      this.path = path;
      this.giveBack = giveBack;
      this.place = place;
    }

    /** The program closes the stream. */
    public void closed() {
      open.remove(this);
      clear();
    }
  }

  /**
   * Notes an open stream.
   *
   * @param giveBack gives back what the stream has; it does not block, and does not refer to it
   */
  public Entry add(Object stream, String path, Runnable giveBack) {
    look();
    Throwable place = LOG.isDebugEnabled() ? new Throwable("opened here") : null;
    Entry entry = new Entry(stream, path, giveBack, place);
    if (watches) {
      open.add(entry);
    }
    return entry;
  }

  /** Gives back what dropped streams have that were collected. */
  public void look() {
    for (Object each = collected.poll(); each != null; each = collected.poll()) {
      Entry entry = (Entry) each;
      if (open.remove(entry)) {
        nextCollection.set(System.nanoTime() + SHORT_PAUSE_NANOS);
        report(entry);
        entry.giveBack.run();
      }
    }
  }

  /** As {@link #look}, after a collection, unless the last one found nothing and is recent. */
  boolean collect() {
    long now = System.nanoTime();
    long next = nextCollection.get();
    boolean collects =
        !open.isEmpty()
            && now - next >= 0
            && nextCollection.compareAndSet(next, now + LONG_PAUSE_NANOS);
    if (collects) {
      // Java does the same before it refuses direct memory.
      System.gc();
    }
    look();
    return collects;
  }

  private void report(Entry entry) {
    if (found.getAndIncrement() == 0) {
      LOG.warn(
          "a stream or staged bytes of {} were never closed; their memory and lease are given back now, and"
              + " what was not sent is lost. More of them are counted and not logged; see debug"
              + " messages of {}",
          entry.path,
          LOG.getName());
    }
    LOG.debug("a stream or staged bytes of {} were never closed", entry.path, entry.place);
  }

  /**
   * The store ends. Streams that are open keep what they have until they are closed or collected.
   */
  public void close() {
    look();
    open.clear();
    if (found.get() > 1) {
      LOG.warn("{} streams of a store were never closed", found.get());
    }
  }
}

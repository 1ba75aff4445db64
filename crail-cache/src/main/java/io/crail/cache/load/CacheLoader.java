/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache.load;

import io.crail.cache.CacheFileSystem;
import io.crail.cache.CacheFileSystem.NotCachedException;
import io.crail.common.Threads;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * Loads all files below a path into a cache. Several threads do that, each a piece of a file at a
 * time. A file or directory that cannot be loaded does not keep the others. What Crail does not
 * take now is tried again for a while, and a load never makes room by removing what it has loaded.
 * When Crail has taken nothing for a while, the load ends. What the slow file system shows as a
 * link is left out. Used by one thread, once; the counts may be asked for by any.
 */
public final class CacheLoader {
  private static final long PIECE_BLOCKS = 64;

  /** Pieces that wait for a thread. More would only take memory. */
  private static final int MOST_WAITING = 1_000;

  private static final long TICK_MILLIS = 200;

  /** The pause before what Crail has not taken is tried again. */
  private static final long RETRY_MILLIS = 250;

  /** After this time a file that was changed just now would be cached. */
  private static final long SETTLED_NANOS =
      TimeUnit.MILLISECONDS.toNanos(CacheFileSystem.JUST_NOW_MILLIS);

  private final CacheFileSystem cache;
  private final long pieceBytes;
  private final long patienceNanos;
  private final long beganMillis = System.currentTimeMillis();
  private final BiConsumer<Path, Throwable> failures;
  private final ExecutorService pool;
  private final Semaphore room = new Semaphore(MOST_WAITING);
  private final LongAdder files = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder sourceBytes = new LongAdder();
  private final LongAdder failed = new LongAdder();

  /**
   * Since when Crail has refused and taken nothing, by the clock of {@link System#nanoTime}; null
   * if it takes what it gets.
   */
  private final AtomicReference<Long> refusedNanos = new AtomicReference<>();

  private volatile boolean hasGivenUp;

  /** Called now and then by the thread that loads. */
  private Runnable tick;

  /**
   * Creates a loader, which starts nothing yet.
   *
   * @param cache where to load, which stays open
   * @param threads how many pieces are loaded at the same time
   * @param patience how long a piece that Crail does not take is tried again, and after which the
   *     load ends if Crail has taken nothing
   * @param failures gets each file and directory that cannot be loaded, and why; called by any
   *     thread, one at a time
   */
  public CacheLoader(
      CacheFileSystem cache, int threads, Duration patience, BiConsumer<Path, Throwable> failures) {
    this.cache = cache;
    this.patienceNanos = patience.toNanos();
    this.pieceBytes = PIECE_BLOCKS * cache.blockBytes();
    this.failures = failures;
    this.pool = Executors.newFixedThreadPool(threads, Threads.factory("crail-cache-load"));
  }

  /** {@return the number of files that are whole in the cache} */
  public long files() {
    return files.sum();
  }

  /** {@return the bytes of these files} */
  public long bytes() {
    return bytes.sum();
  }

  /** {@return how many bytes were read from the slow file system, also of files that failed} */
  public long sourceBytes() {
    return sourceBytes.sum();
  }

  /** {@return the number of files and directories that could not be loaded} */
  public long failed() {
    return failed.sum();
  }

  /**
   * Loads what is below a path, and returns when that is done.
   *
   * @param root a file or a directory
   * @param progress is run several times a second meanwhile, by the calling thread
   * @throws InterruptedException if the thread is interrupted; then some files are not loaded
   */
  public void load(Path root, Runnable progress) throws InterruptedException {
    tick = progress;
    try {
      walk(root);
      pool.shutdown();
      while (!pool.awaitTermination(TICK_MILLIS, TimeUnit.MILLISECONDS)) {
        tick.run();
      }
      if (hasGivenUp) {
        long millis = TimeUnit.NANOSECONDS.toMillis(patienceNanos);
        String why = "the rest is not loaded, since Crail has taken nothing for " + millis + " ms";
        fail(root, new IOException(why));
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private void walk(Path root) throws InterruptedException {
    Deque<Path> directories = new ArrayDeque<>();
    try {
      meet(cache.getFileStatus(root), directories);
    } catch (IOException | RuntimeException e) {
      fail(root, e);
    }
    while (!directories.isEmpty() && !hasGivenUp) {
      Path directory = directories.pop();
      try {
        RemoteIterator<FileStatus> each = cache.listStatusIterator(directory);
        while (!hasGivenUp && each.hasNext()) {
          meet(each.next(), directories);
        }
      } catch (IOException | RuntimeException e) {
        fail(directory, e);
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  private void meet(FileStatus status, Deque<Path> directories) throws InterruptedException {
    if (status.isSymlink()) {
      return;
    }
    if (status.isDirectory()) {
      directories.push(status.getPath());
      return;
    }
    int pieces = (int) Math.max(1, (status.getLen() + pieceBytes - 1) / pieceBytes);
    Loading file = new Loading(status, pieces);
    for (int i = 0; i < pieces; i++) {
      while (!room.tryAcquire(TICK_MILLIS, TimeUnit.MILLISECONDS)) {
        tick.run();
      }
      int piece = i;
      pool.execute(() -> file.load(piece));
    }
    tick.run();
  }

  private synchronized void fail(Path path, Throwable cause) {
    failed.increment();
    failures.accept(path, cause);
  }

  /** A file that is being loaded. */
  private final class Loading {
    private final FileStatus status;
    private final int pieces;
    private final AtomicInteger left;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicReference<String> content = new AtomicReference<>();
    private final AtomicInteger loaded = new AtomicInteger();

    Loading(FileStatus status, int pieces) {
      this.status = status;
      this.pieces = pieces;
      this.left = new AtomicInteger(pieces);
    }

    void load(int piece) {
      try {
        // The rest of a file that fails is not worth the time.
        if (failure.get() == null && !hasGivenUp) {
          // It may have become longer since it was listed.
          long most = piece == pieces - 1 ? Long.MAX_VALUE : pieceBytes;
          String part = patiently(piece * pieceBytes, most);
          if (!content.compareAndSet(null, part) && !content.get().equals(part)) {
            throw new IOException(status.getPath() + " was changed while it was loaded");
          }
          loaded.incrementAndGet();
        }
      } catch (IOException | RuntimeException | Error e) {
        failure.compareAndSet(null, e);
      } finally {
        room.release();
        if (left.decrementAndGet() == 0) {
          end();
        }
      }
    }

    private String patiently(long from, long bytes) throws IOException {
      long firstNanos = 0;
      for (int refusals = 0; true; refusals++) {
        try {
          return cache.load(status.getPath(), from, bytes, beganMillis, this::taken);
        } catch (NotCachedException e) {
          long now = System.nanoTime();
          firstNanos = refusals == 0 ? now : firstNanos;
          long most = e.isOfFile() ? Math.min(SETTLED_NANOS, patienceNanos) : patienceNanos;
          if (!e.isOfFile()) {
            refusedNanos.compareAndSet(null, now);
            Long since = refusedNanos.get();
            hasGivenUp = hasGivenUp || since != null && now - since >= patienceNanos;
          }
          if (hasGivenUp || now - firstNanos >= most) {
            throw e;
          }
        }
        try {
          Thread.sleep(RETRY_MILLIS);
        } catch (InterruptedException e) {
          throw new InterruptedIOException(status.getPath() + ": the load was ended");
        }
      }
    }

    private void taken(long count) {
      sourceBytes.add(count);
      refusedNanos.set(null);
    }

    private void end() {
      if (failure.get() != null) {
        fail(status.getPath(), failure.get());
      } else if (loaded.get() == pieces) {
        files.increment();
        bytes.add(status.getLen());
      }
    }
  }
}

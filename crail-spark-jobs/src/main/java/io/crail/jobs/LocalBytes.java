/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Watches how many bytes the files of a directory have, and remembers the most. Spark deletes
 * spilled files while it runs, and all others at its end. Owns one thread, which ends with {@link
 * #close}.
 */
final class LocalBytes implements AutoCloseable {
  private static final long LEAST_PAUSE_MILLIS = 200;

  /** So that looking takes at most this part of a processor. */
  private static final long PAUSES_FOR_A_LOOK = 50;

  private static final long END_SECONDS = 60;

  private final Path directory;
  private final AtomicLong most = new AtomicLong();
  private final CountDownLatch end = new CountDownLatch(1);
  private final Thread thread;

  private LocalBytes(Path directory) {
    this.directory = directory;
    this.thread = new Thread(this::watch, "local-bytes");
    thread.setDaemon(true);
  }

  /** Begins to watch. */
  static LocalBytes watch(Path directory) {
    LocalBytes bytes = new LocalBytes(directory);
    bytes.thread.start();
    return bytes;
  }

  /** Looks once more, and gives the most bytes that any look has found. */
  long most() throws IOException {
    return most.accumulateAndGet(bytes(), Math::max);
  }

  private void watch() {
    try {
      long pause = LEAST_PAUSE_MILLIS;
      while (!end.await(pause, TimeUnit.MILLISECONDS)) {
        long begin = System.nanoTime();
        most();
        long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
        pause = Math.max(LEAST_PAUSE_MILLIS, PAUSES_FOR_A_LOOK * took);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot look at " + directory, e);
    }
  }

  private long bytes() throws IOException {
    long[] sum = new long[1];
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            sum[0] += attributes.size();
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException e)
              throws IOException {
            if (e == null || e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }
        });
    return sum[0];
  }

  @Override
  public void close() throws InterruptedException {
    end.countDown();
    thread.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
  }
}

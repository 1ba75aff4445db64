/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;

/**
 * Shows on a terminal how far an experiment, its preparation or a copy is. Its own thread reads the
 * counter a few times a second, so the path that counts does no additional work.
 */
public final class Progress implements AutoCloseable {
  private static final int INTERVAL_MILLIS = 250;

  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread thread;

  private Progress(ProgressBarBuilder builder, LongSupplier done) {
    this.thread = new Thread(() -> show(builder, done), "bench-progress");
    thread.setDaemon(true);
    thread.start();
  }

  /** Shows the progress of operations until it is closed. */
  static AutoCloseable on(PrintStream terminal, String task, long total, LongSupplier done) {
    return new Progress(builder(terminal, task, total), done);
  }

  /** Shows the progress of moved bytes until it is closed. */
  public static AutoCloseable ofBytes(
      PrintStream terminal, String task, long total, LongSupplier done) {
    return new Progress(builder(terminal, task, total).setUnit(" MiB", 1 << 20), done);
  }

  private static ProgressBarBuilder builder(PrintStream terminal, String task, long total) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setInitialMax(total)
        .setUpdateIntervalMillis(INTERVAL_MILLIS)
        .setConsumer(new ConsoleProgressBarConsumer(terminal));
  }

  private void show(ProgressBarBuilder builder, LongSupplier done) {
    try (ProgressBar bar = builder.build()) {
      while (!ended.await(INTERVAL_MILLIS, TimeUnit.MILLISECONDS)) {
        bar.stepTo(done.getAsLong());
      }
      bar.stepTo(done.getAsLong());
    } catch (InterruptedException e) {
      // Keeps the interruption, which asks this thread to end.
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws InterruptedException {
    ended.countDown();
    thread.join(TimeUnit.SECONDS.toMillis(2));
  }
}

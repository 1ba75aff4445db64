/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailTimeoutException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ValueLoadsTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final String PATH = "/app/broadcast/1";
  private static final int THREADS = 8;

  /** A thread and what became of it. */
  private record Task(Thread thread, FutureTask<Object> outcome) {
    Object get() throws Exception {
      return outcome.get(60, TimeUnit.SECONDS);
    }

    Throwable failure() {
      return assertThrows(java.util.concurrent.ExecutionException.class, this::get).getCause();
    }
  }

  private final ValueLoads loads = new ValueLoads();
  private final List<Task> tasks = new ArrayList<>();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final AtomicInteger runs = new AtomicInteger();

  @AfterEach
  void stop() throws InterruptedException {
    goOn.countDown();
    for (Task task : tasks) {
      task.thread().join(60_000);
    }
  }

  private Task start(Callable<Object> work) {
    FutureTask<Object> outcome = new FutureTask<>(work);
    Task task = new Task(new Thread(outcome), outcome);
    tasks.add(task);
    task.thread().start();
    return task;
  }

  private Object slow() throws IOException {
    runs.incrementAndGet();
    begun.countDown();
    try {
      goOn.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
    return new Object();
  }

  private Object unexpected() {
    runs.incrementAndGet();
    return "another one";
  }

  /** Starts a thread that loads, and others that wait for it. */
  private List<Task> startAll(ValueLoads.Load<Object> first) throws InterruptedException {
    start(() -> loads.load(PATH, LONG, first));
    assertTrue(begun.await(60, TimeUnit.SECONDS));
    for (int i = 1; i < THREADS; i++) {
      start(() -> loads.load(PATH, LONG, this::unexpected));
    }
    for (Task task : tasks.subList(1, THREADS)) {
      while (task.thread().getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
    }
    return tasks;
  }

  @Test
  void oneThreadLoadsForAll() throws Exception {
    List<Task> all = startAll(this::slow);
    // Another value does not wait.
    assertEquals("other", loads.load("/other", LONG, () -> "other"));
    goOn.countDown();
    for (Task task : all) {
      assertSame(all.get(0).get(), task.get());
    }
    assertEquals(1, runs.get());
    assertEquals("another one", loads.load(PATH, LONG, this::unexpected));
  }

  @Test
  void allShareAnError() throws Exception {
    IOException error = new IOException("lost");
    List<Task> all =
        startAll(
            () -> {
              slow();
              throw error;
            });
    goOn.countDown();
    for (Task task : all) {
      assertSame(error, task.failure());
    }
    assertEquals(1, runs.get());
  }

  @Test
  void anotherTakesThePlaceOfOneThatIsInterrupted() throws Exception {
    List<Task> all = startAll(this::slow);
    all.get(0).thread().interrupt();
    assertInstanceOf(InterruptedIOException.class, all.get(0).failure());
    for (Task task : all.subList(1, THREADS)) {
      assertEquals("another one", task.get());
    }
  }

  @Test
  void anotherTakesThePlaceOfOneThatFailsByItself() throws Exception {
    List<Task> all =
        startAll(
            () -> {
              slow();
              throw new IllegalStateException("a bug in its class");
            });
    goOn.countDown();
    assertInstanceOf(IllegalStateException.class, all.get(0).failure());
    for (Task task : all.subList(1, THREADS)) {
      assertEquals("another one", task.get());
    }
  }

  @Test
  void aWaitEndsWithAnInterrupt() throws Exception {
    start(() -> loads.load(PATH, LONG, this::slow));
    assertTrue(begun.await(60, TimeUnit.SECONDS));
    Task waiting =
        start(
            () -> {
              assertThrows(
                  InterruptedIOException.class, () -> loads.load(PATH, LONG, this::unexpected));
              return Thread.currentThread().isInterrupted();
            });
    waiting.thread().interrupt();
    assertEquals(true, waiting.get());
    goOn.countDown();
    tasks.get(0).get();
    assertEquals(1, runs.get());
  }

  @Test
  void aWaitHasADeadline() throws Exception {
    start(() -> loads.load(PATH, LONG, this::slow));
    assertTrue(begun.await(60, TimeUnit.SECONDS));
    assertThrows(
        CrailTimeoutException.class,
        () -> loads.load(PATH, Duration.ofMillis(1), this::unexpected));
    assertEquals(1, runs.get());
  }
}

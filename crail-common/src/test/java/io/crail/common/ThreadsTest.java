/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.Thread.UncaughtExceptionHandler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ThreadsTest {
  private final UncaughtExceptionHandler former = Thread.getDefaultUncaughtExceptionHandler();
  private final List<Throwable> seen = new CopyOnWriteArrayList<>();
  private final Error error = new OutOfMemoryError("as asked for");

  @AfterEach
  void restore() {
    Thread.setDefaultUncaughtExceptionHandler(former);
  }

  private void die() throws InterruptedException {
    Thread thread =
        Threads.factory("crail-test")
            .newThread(
                () -> {
                  throw error;
                });
    assertTrue(thread.isDaemon());
    assertEquals("crail-test", thread.getName());
    thread.start();
    thread.join();
  }

  @Test
  void aServersProcessDecides() throws Exception {
    Threads.Guard guard = (thread, cause) -> seen.add(cause);
    Thread.setDefaultUncaughtExceptionHandler(guard);
    die();
    assertEquals(1, seen.size());
    assertSame(error, seen.get(0));
  }

  /** As the handler of Spark's executors, which ends them. */
  @Test
  void theProcessOfAnotherProgramIsNotAsked() throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, cause) -> seen.add(cause));
    die();
    assertEquals(List.of(), seen);
  }
}

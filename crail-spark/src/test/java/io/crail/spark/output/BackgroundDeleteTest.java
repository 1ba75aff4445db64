/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BackgroundDeleteTest {
  private final List<String> deleted = new CopyOnWriteArrayList<>();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private volatile Thread thread;

  private void slow(String path) throws IOException {
    thread = Thread.currentThread();
    begun.countDown();
    try {
      goOn.await();
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    }
    deleted.add(path);
  }

  @Test
  void aCallerNeverWaitsForTheStoreAndTheQueueHasALimit() throws Exception {
    try (BackgroundDelete deletions = new BackgroundDelete(this::slow)) {
      deletions.delete("first", false);
      assertTrue(begun.await(60, TimeUnit.SECONDS));
      for (int i = 0; i < BackgroundDelete.MOST_WAITING + 10; i++) {
        deletions.delete("file " + i, false);
      }
      assertEquals(List.of(), deleted);
      goOn.countDown();
      while (deleted.size() <= BackgroundDelete.MOST_WAITING) {
        Thread.onSpinWait();
      }
      deletions.delete("last", true);
      assertEquals(BackgroundDelete.MOST_WAITING + 2, deleted.size());
      assertFalse(deleted.contains("file " + BackgroundDelete.MOST_WAITING));
    }
    thread.join(60_000);
    assertFalse(thread.isAlive());
  }

  @Test
  void anErrorIsNotThrown() throws Exception {
    BackgroundDelete.Remover failing =
        path -> {
          deleted.add(path);
          if (path.equals("bug")) {
            throw new IllegalStateException();
          }
          throw new IOException("unreachable");
        };
    // Nothing is tried again meanwhile.
    try (BackgroundDelete deletions = new BackgroundDelete(failing, TimeUnit.HOURS.toMillis(1))) {
      for (String path : List.of("bug", "store", "bug")) {
        deletions.delete(path, true);
      }
    }
    assertEquals(List.of("bug", "store", "bug"), deleted);
  }

  @Test
  void theEndDoesNotWaitForTheStore() throws Exception {
    BackgroundDelete deletions = new BackgroundDelete(this::slow);
    deletions.delete("first", false);
    deletions.delete("second", false);
    assertTrue(begun.await(60, TimeUnit.SECONDS));
    deletions.close();
    thread.join(60_000);
    assertFalse(thread.isAlive());
    deletions.delete("third", true);
    assertEquals(List.of(), deleted);
  }

  @Test
  void failedDeletesAreTriedAgain() throws Exception {
    AtomicInteger failures = new AtomicInteger(3);
    CountDownLatch done = new CountDownLatch(1);
    BackgroundDelete.Remover remover =
        path -> {
          if (failures.getAndDecrement() > 0) {
            throw new IOException("silent");
          }
          done.countDown();
        };
    try (BackgroundDelete deletions = new BackgroundDelete(remover, 1)) {
      deletions.delete("file", true);
      assertTrue(done.await(60, TimeUnit.SECONDS));
      assertEquals(-1, failures.get());
    }
  }

  @Test
  void triesHaveALimit() throws Exception {
    CountDownLatch tried = new CountDownLatch(1 + BackgroundDelete.TRIES);
    AtomicInteger tries = new AtomicInteger();
    BackgroundDelete.Remover remover =
        path -> {
          if (path.equals("file")) {
            tries.incrementAndGet();
            tried.countDown();
            throw new IOException("silent");
          }
        };
    try (BackgroundDelete deletions = new BackgroundDelete(remover, 0)) {
      deletions.delete("file", false);
      assertTrue(tried.await(60, TimeUnit.SECONDS));
      // The last try has ended, and one more would come before the second of these.
      deletions.delete("after it", true);
      deletions.delete("after it", true);
      assertEquals(1 + BackgroundDelete.TRIES, tries.get());
    }
  }

  @Test
  void retriesCountAsWaiting() throws Exception {
    try (BackgroundDelete deletions =
        new BackgroundDelete(deleted::add, TimeUnit.HOURS.toMillis(1))) {
      for (int i = 0; i < BackgroundDelete.MOST_WAITING; i++) {
        deletions.again("file " + i, () -> {});
      }
      deletions.delete("one more", true);
      deletions.again("the last", () -> {});
      deletions.delete("too many", true);
      assertEquals(List.of("one more"), deleted);
    }
  }
}

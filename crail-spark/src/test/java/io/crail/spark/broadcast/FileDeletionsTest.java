/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FileDeletionsTest {
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
    try (FileDeletions deletions = new FileDeletions(this::slow)) {
      deletions.delete("first", false);
      assertTrue(begun.await(60, TimeUnit.SECONDS));
      for (int i = 0; i < FileDeletions.MOST_WAITING + 10; i++) {
        deletions.delete("file " + i, false);
      }
      assertEquals(List.of(), deleted);
      goOn.countDown();
      while (deleted.size() <= FileDeletions.MOST_WAITING) {
        Thread.onSpinWait();
      }
      deletions.delete("last", true);
      assertEquals(FileDeletions.MOST_WAITING + 2, deleted.size());
      assertFalse(deleted.contains("file " + FileDeletions.MOST_WAITING));
    }
    thread.join(60_000);
    assertFalse(thread.isAlive());
  }

  @Test
  void anErrorIsNotThrown() throws Exception {
    FileDeletions.Remover failing =
        path -> {
          deleted.add(path);
          if (path.equals("bug")) {
            throw new IllegalStateException();
          }
          throw new IOException("unreachable");
        };
    try (FileDeletions deletions = new FileDeletions(failing)) {
      for (String path : List.of("bug", "store", "bug")) {
        deletions.delete(path, true);
      }
    }
    assertEquals(List.of("bug", "store", "bug"), deleted);
  }

  @Test
  void theEndDoesNotWaitForTheStore() throws Exception {
    FileDeletions deletions = new FileDeletions(this::slow);
    deletions.delete("first", false);
    deletions.delete("second", false);
    assertTrue(begun.await(60, TimeUnit.SECONDS));
    deletions.close();
    thread.join(60_000);
    assertFalse(thread.isAlive());
    deletions.delete("third", true);
    assertEquals(List.of(), deleted);
  }
}

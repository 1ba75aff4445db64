/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class UsersTest {
  private static final int ROUNDS = 20_000;
  private static final int THREADS = 3;

  @Test
  void theLastUserEndsWhatWasClosed() {
    AtomicInteger ends = new AtomicInteger();
    Users users = new Users(ends::incrementAndGet);
    assertTrue(users.enter());
    assertTrue(users.enter());
    users.exit();
    users.close();
    assertFalse(users.enter());
    assertEquals(0, ends.get());
    users.exit();
    users.close();
    assertFalse(users.enter());
    assertEquals(1, ends.get());
  }

  /** A few threads enter and leave while another one closes; who is inside never sees the end. */
  @Test
  void noUserSeesTheEnd() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    AtomicInteger ends = new AtomicInteger();
    Users[] rounds = new Users[ROUNDS];
    boolean[][] freed = new boolean[ROUNDS][1];
    for (int i = 0; i < ROUNDS; i++) {
      boolean[] mine = freed[i];
      rounds[i] =
          new Users(
              () -> {
                mine[0] = true;
                ends.incrementAndGet();
              });
    }
    CyclicBarrier together = new CyclicBarrier(THREADS + 1);
    Thread[] threads = new Thread[THREADS];
    for (int t = 0; t < THREADS; t++) {
      threads[t] =
          new Thread(
              () -> {
                await(together);
                for (int i = 0; i < ROUNDS; i++) {
                  while (rounds[i].enter()) {
                    if (freed[i][0]) {
                      seen.incrementAndGet();
                    }
                    rounds[i].exit();
                  }
                }
              });
      threads[t].start();
    }
    await(together);
    for (Users each : rounds) {
      each.close();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(0, seen.get());
    assertEquals(ROUNDS, ends.get());
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}

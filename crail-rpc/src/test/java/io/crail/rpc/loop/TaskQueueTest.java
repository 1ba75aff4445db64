/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class TaskQueueTest {
  private record Numbered(int thread, int number) implements LoopTask {
    @Override
    public void runInLoop() {}
  }

  @Test
  void tasksLeaveInTheirOrderAlsoWhenTheRingIsFull() {
    TaskQueue queue = new TaskQueue(4);
    int added = 0;
    int taken = 0;
    // Amounts below, at and above the ring's size, so that it goes round and runs over in between.
    for (int amount : new int[] {1, 3, 4, 5, 11, 2, 4, 7, 1}) {
      for (int i = 0; i < amount; i++) {
        queue.add(new Numbered(0, added++));
      }
      assertFalse(queue.isEmpty());
      assertEquals(added - taken, queue.size());
      // One is left each time, so that what comes next finds something before it.
      while (taken < added - 1) {
        assertEquals(new Numbered(0, taken++), queue.poll());
      }
    }
    assertEquals(new Numbered(0, taken), queue.poll());
    assertNull(queue.poll());
    assertTrue(queue.isEmpty());
    assertEquals(0, queue.size());
  }

  @Test
  void nothingOvertakesWhatWaitsBehindTheRing() {
    TaskQueue queue = new TaskQueue(2);
    for (int i = 0; i < 3; i++) {
      queue.add(new Numbered(0, i));
    }
    assertEquals(new Numbered(0, 0), queue.poll());
    // The ring has room again, but number 2 is not in it.
    queue.add(new Numbered(0, 3));
    for (int i = 1; i <= 3; i++) {
      assertEquals(new Numbered(0, i), queue.poll());
    }
  }

  /** One thread stops between claiming its place and putting its task there. */
  @Test
  void nothingOvertakesATaskThatIsBeingAdded() {
    TaskQueue queue = new TaskQueue(2);
    final long position = queue.claim();
    assertFalse(queue.isEmpty());
    assertNull(queue.take());
    // The first is behind it in the ring, the others are behind the ring.
    for (int i = 0; i < 3; i++) {
      queue.add(new Numbered(1, i));
      assertNull(queue.take());
    }
    queue.publish(position, new Numbered(0, 0));
    assertEquals(new Numbered(0, 0), queue.poll());
    for (int i = 0; i < 3; i++) {
      assertEquals(new Numbered(1, i), queue.poll());
    }
    assertNull(queue.poll());
    assertTrue(queue.isEmpty());
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void pollWaitsForATaskThatIsBeingAdded() throws InterruptedException {
    TaskQueue queue = new TaskQueue(2);
    final long position = queue.claim();
    queue.add(new Numbered(1, 0));
    List<LoopTask> taken = new ArrayList<>();
    Thread consumer =
        new Thread(
            () -> {
              taken.add(queue.poll());
              taken.add(queue.poll());
            });
    consumer.start();
    queue.publish(position, new Numbered(0, 0));
    consumer.join();
    assertEquals(List.of(new Numbered(0, 0), new Numbered(1, 0)), taken);
  }

  /** The consumer stops between its looks into the ring and after it. */
  @Test
  void tasksInTheRingGoBeforeThoseInTheOverflow() {
    TaskQueue queue = new TaskQueue(2);
    assertNull(queue.takeFromRing());
    for (int i = 0; i < 3; i++) {
      queue.add(new Numbered(0, i));
    }
    for (int i = 0; i < 3; i++) {
      assertEquals(new Numbered(0, i), queue.takeBehindRing());
    }
    assertTrue(queue.isEmpty());
  }

  @Test
  void aSizeIsAPowerOfTwoAboveOne() {
    assertThrows(IllegalArgumentException.class, () -> new TaskQueue(3));
    assertThrows(IllegalArgumentException.class, () -> new TaskQueue(0));
    assertThrows(IllegalArgumentException.class, () -> new TaskQueue(1));
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void manyThreadsLoseNothingAndKeepTheirOrder() throws InterruptedException {
    int threads = 4;
    int tasks = 20_000;
    TaskQueue queue = new TaskQueue(8);
    List<Thread> producers = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      int self = thread;
      producers.add(
          new Thread(
              () -> {
                for (int i = 0; i < tasks; i++) {
                  queue.add(new Numbered(self, i));
                }
              }));
    }
    producers.forEach(Thread::start);
    int[] next = new int[threads];
    int left = threads * tasks;
    while (left > 0) {
      Numbered task = (Numbered) queue.poll();
      if (task == null) {
        Thread.onSpinWait();
        continue;
      }
      assertEquals(next[task.thread()]++, task.number(), () -> "of thread " + task.thread());
      left--;
    }
    for (Thread producer : producers) {
      producer.join();
    }
    assertNull(queue.poll());
    assertTrue(queue.isEmpty());
  }
}

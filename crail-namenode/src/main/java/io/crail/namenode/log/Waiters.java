/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What is to be done when records are durable, each once. Thread-safe. */
public final class Waiters {
  private record Waiter(long position, Runnable action) {}

  private final Queue<Waiter> waiting = new ConcurrentLinkedQueue<>();

  /** Adds an action that waits for a position. */
  public void add(long position, Runnable action) {
    waiting.add(new Waiter(position, action));
  }

  /** Runs what waits for a position, or for an earlier one. */
  public void letPass(long position) {
    for (Waiter waiter : waiting) {
      if (waiter.position <= position && waiting.remove(waiter)) {
        waiter.action.run();
      }
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tasks on their way from any thread to the one that drives a loop. Adding a task allocates nothing
 * while the ring has room. When the ring is full, tasks go to an overflow list, which is served
 * after the ring. Tasks of one thread leave in the order in which it added them. Thread-safe on
 * both ends, without locks.
 *
 * <p>The ring is Dmitry Vyukov's bounded queue: each place has a turn, which says who may use it
 * next. With turn {@code n} the {@code n}-th task may be added, with turn {@code n + 1} it may be
 * taken.
 */
final class TaskQueue {
  private static final VarHandle TURN = MethodHandles.arrayElementVarHandle(long[].class);

  private final LoopTask[] places;
  private final long[] turns;
  private final int mask;
  private final AtomicLong added = new AtomicLong();
  private final AtomicLong taken = new AtomicLong();
  private final Queue<LoopTask> overflow = new ConcurrentLinkedQueue<>();

  /** The number of tasks in the overflow list, including tasks that are being added or taken. */
  private final AtomicLong overflowing = new AtomicLong();

  /**
   * Creates an empty queue.
   *
   * @param size places of the ring, a power of two and at least 2: with one place the turns for
   *     adding and taking would be the same
   */
  TaskQueue(int size) {
    if (size < 2 || Integer.bitCount(size) != 1) {
      throw new IllegalArgumentException(size + " is no power of two above 1");
    }
    this.places = new LoopTask[size];
    this.turns = new long[size];
    this.mask = size - 1;
    for (int i = 0; i < size; i++) {
      turns[i] = i;
    }
  }

  /** Adds a task. */
  void add(LoopTask task) {
    // A task must not overtake an earlier one of the same thread that waits in the overflow list.
    if (overflowing.get() == 0 && addToRing(task)) {
      return;
    }
    overflowing.incrementAndGet();
    overflow.add(task);
  }

  private boolean addToRing(LoopTask task) {
    long position = claim();
    if (position < 0) {
      return false;
    }
    publish(position, task);
    return true;
  }

  /** Takes the next place of the ring; -1 when the ring is full. */
  long claim() {
    while (true) {
      long position = added.get();
      long turn = (long) TURN.getAcquire(turns, (int) position & mask);
      if (turn == position) {
        if (added.compareAndSet(position, position + 1)) {
          return position;
        }
      } else if (turn < position) {
        return -1;
      }
    }
  }

  /** Puts a task into a claimed place. Until then, tasks in later places cannot be taken. */
  void publish(long position, LoopTask task) {
    int place = (int) position & mask;
    places[place] = task;
    TURN.setRelease(turns, place, position + 1);
  }

  /**
   * Takes a task; null when there is none. The order is kept only if one thread takes at a time. If
   * a thread has claimed a place and not put its task there yet, this waits: later tasks must not
   * overtake, and that thread is between two instructions that neither block nor fail.
   */
  LoopTask poll() {
    LoopTask task = take();
    while (task == null && !isRingEmpty()) {
      Thread.yield();
      task = take();
    }
    return task;
  }

  /** Takes a task; null also when the next one is not in its place yet. */
  LoopTask take() {
    LoopTask task = takeFromRing();
    return task != null || overflow.peek() == null ? task : takeBehindRing();
  }

  /** As {@link #take}, after a task was seen in the overflow list while the ring seemed empty. */
  LoopTask takeBehindRing() {
    // Earlier tasks of the same thread are still in the ring, or were taken.
    LoopTask task = takeFromRing();
    if (task == null && isRingEmpty()) {
      task = overflow.poll();
      if (task != null) {
        overflowing.decrementAndGet();
      }
    }
    return task;
  }

  /**
   * Takes the first task of the ring; null when there is none, or when it is not in its place yet.
   */
  LoopTask takeFromRing() {
    while (true) {
      long position = taken.get();
      int place = (int) position & mask;
      long turn = (long) TURN.getAcquire(turns, place);
      if (turn <= position) {
        return null;
      }
      if (turn == position + 1 && taken.compareAndSet(position, position + 1)) {
        LoopTask task = places[place];
        places[place] = null;
        TURN.setRelease(turns, place, position + turns.length);
        return task;
      }
    }
  }

  private boolean isRingEmpty() {
    return taken.get() == added.get();
  }

  /**
   * The number of waiting tasks, never less than 0. Tasks that are added during the call may be
   * counted in addition.
   */
  long size() {
    // In this order, since a task is added before it is taken.
    long out = taken.get();
    return overflowing.get() + added.get() - out;
  }

  /** True when all tasks were taken, including a task that is being added. */
  boolean isEmpty() {
    return isRingEmpty() && overflowing.get() == 0;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tasks on their way from any thread to the one that drives a loop. Adding one allocates nothing
 * while the ring has room; what finds it full waits in a list behind it. Tasks of one thread leave
 * in the order in which it added them. Thread-safe on both ends, without locks.
 *
 * <p>The ring is Dmitry Vyukov's bounded queue: each place has a turn, which says who may use it
 * next. The turn {@code n} of a place lets the {@code n}-th task in, the turn {@code n + 1} lets it
 * out.
 */
final class TaskQueue {
  private static final VarHandle TURN = MethodHandles.arrayElementVarHandle(long[].class);

  private final ClientLoop.Task[] places;
  private final long[] turns;
  private final int mask;
  private final AtomicLong added = new AtomicLong();
  private final AtomicLong taken = new AtomicLong();
  private final Queue<ClientLoop.Task> overflow = new ConcurrentLinkedQueue<>();

  /** Tasks of the overflow; one that is being added or taken counts. */
  private final AtomicLong overflowing = new AtomicLong();

  /**
   * Creates an empty queue.
   *
   * @param size places of the ring, a power of two and 2 or more: with one place its turns for in
   *     and out would be the same
   */
  TaskQueue(int size) {
    if (size < 2 || Integer.bitCount(size) != 1) {
      throw new IllegalArgumentException(size + " is no power of two above 1");
    }
    this.places = new ClientLoop.Task[size];
    this.turns = new long[size];
    this.mask = size - 1;
    for (int i = 0; i < size; i++) {
      turns[i] = i;
    }
  }

  /** Adds a task. */
  void add(ClientLoop.Task task) {
    // Not past a task of the same thread that waits behind the ring.
    if (overflowing.get() == 0 && addToRing(task)) {
      return;
    }
    overflowing.incrementAndGet();
    overflow.add(task);
  }

  private boolean addToRing(ClientLoop.Task task) {
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

  /** Puts a task into a place that was claimed; until then nobody sees what comes after it. */
  void publish(long position, ClientLoop.Task task) {
    int place = (int) position & mask;
    places[place] = task;
    TURN.setRelease(turns, place, position + 1);
  }

  /**
   * Takes a task; null when there is none. Only one thread at a time keeps the order. Waits for a
   * thread that has claimed a place and not put its task there: what is after it must not overtake,
   * and it is between two instructions, which neither block nor fail.
   */
  ClientLoop.Task poll() {
    ClientLoop.Task task = take();
    while (task == null && !isRingEmpty()) {
      Thread.yield();
      task = take();
    }
    return task;
  }

  /** Takes a task; null also when the next one is not in its place yet. */
  ClientLoop.Task take() {
    ClientLoop.Task task = takeFromRing();
    return task != null || overflow.peek() == null ? task : takeBehindRing();
  }

  /** As {@link #take}, when a task was seen after the ring after the ring had none. */
  ClientLoop.Task takeBehindRing() {
    // What the thread of the one that was seen had added before is in the ring, or was taken.
    ClientLoop.Task task = takeFromRing();
    if (task == null && isRingEmpty()) {
      task = overflow.poll();
      if (task != null) {
        overflowing.decrementAndGet();
      }
    }
    return task;
  }

  /** Takes the first task of the ring; null when it has none, or not in its place yet. */
  ClientLoop.Task takeFromRing() {
    while (true) {
      long position = taken.get();
      int place = (int) position & mask;
      long turn = (long) TURN.getAcquire(turns, place);
      if (turn <= position) {
        return null;
      }
      if (turn == position + 1 && taken.compareAndSet(position, position + 1)) {
        ClientLoop.Task task = places[place];
        places[place] = null;
        TURN.setRelease(turns, place, position + turns.length);
        return task;
      }
    }
  }

  private boolean isRingEmpty() {
    return taken.get() == added.get();
  }

  /** Tasks that wait; too many by those that are added while this looks, never less than 0. */
  long size() {
    // In this order, for a task is added before it is taken.
    long out = taken.get();
    return overflowing.get() + added.get() - out;
  }

  /** True when all that was added was taken; a task that is being added counts. */
  boolean isEmpty() {
    return isRingEmpty() && overflowing.get() == 0;
  }
}

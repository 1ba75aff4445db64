/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * Makes renames atomic for lookups that take no lock: a lookup is valid only if no rename ran while
 * it did. A lookup that fails several times in a row stops renames while it runs.
 *
 * <p>Renames of nodes with bytes run beside each other. That of a container runs alone: it changes
 * the way up from all that is below it. Thread-safe.
 */
public final class RenameSequence {
  /** How often a lookup tries before it stops renames. */
  public static final int ATTEMPTS = 8;

  /** The low bits count the renames that run now; those above, all that have begun. */
  private static final long RUNNING = 0xffff;

  private static final long BEGUN = RUNNING + 1;
  private static final VarHandle SEQUENCE = sequenceHandle();

  // Fair, so that a stream of renames cannot starve a lookup.
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);
  private volatile long sequence;

  /**
   * As the sequence, of containers alone; odd while one is renamed. Written by whoever is alone.
   */
  private volatile long ways;

  /** Begins a lookup. */
  public long read() {
    return sequence;
  }

  /** True when no rename has run since {@link #read()} gave {@code before}. */
  public boolean isUnchanged(long before) {
    VarHandle.acquireFence();
    return (before & RUNNING) == 0 && sequence == before;
  }

  /** Runs a lookup of several steps so that its answer is that of one moment between renames. */
  <T> T read(Supplier<T> lookup) {
    for (int i = 0; i < ATTEMPTS; i++) {
      long before = read();
      T answer = lookup.get();
      if (isUnchanged(before)) {
        return answer;
      }
      Thread.onSpinWait();
    }
    lock();
    try {
      return lookup.get();
    } finally {
      unlock();
    }
  }

  /**
   * As {@link #read(Supplier)}, but renames of nodes with bytes may run meanwhile: for the way to a
   * node. What is found there has to be looked at again, under the lock of its container.
   */
  <T> T readWay(Supplier<T> lookup) {
    for (int i = 0; i < ATTEMPTS; i++) {
      long before = ways;
      T answer = lookup.get();
      VarHandle.acquireFence();
      if ((before & 1) == 0 && ways == before) {
        return answer;
      }
      Thread.onSpinWait();
    }
    lock.readLock().lock();
    try {
      return lookup.get();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Keeps renames from running until {@link #unlock()}. */
  public void lock() {
    lock.writeLock().lock();
  }

  /** Lets renames run again. */
  public void unlock() {
    lock.writeLock().unlock();
  }

  /**
   * A change of a name.
   *
   * @param <T> the result
   * @param <E> why it may be refused
   */
  public interface Change<T, E extends Exception> {
    /** Makes the change, or changes nothing and throws. Does no lookup by {@link #read}. */
    T make() throws E;
  }

  /** Runs a change of the name of a container: no other change runs meanwhile. */
  public <T, E extends Exception> T runAlone(Change<T, E> change) throws E {
    lock();
    try {
      ways++;
      return marked(change);
    } finally {
      ways++;
      unlock();
    }
  }

  /** Runs something during which nothing is renamed. */
  public <T, E extends Exception> T runWithout(Change<T, E> action) throws E {
    lock();
    try {
      return action.make();
    } finally {
      unlock();
    }
  }

  /** Runs a change of the name of a node with bytes: no container is renamed meanwhile. */
  public <T, E extends Exception> T runBeside(Change<T, E> change) throws E {
    lock.readLock().lock();
    try {
      return marked(change);
    } finally {
      lock.readLock().unlock();
    }
  }

  private <T, E extends Exception> T marked(Change<T, E> change) throws E {
    SEQUENCE.getAndAdd(this, BEGUN + 1);
    try {
      VarHandle.fullFence();
      return change.make();
    } finally {
      SEQUENCE.getAndAdd(this, -1L);
    }
  }

  private static VarHandle sequenceHandle() {
    try {
      return MethodHandles.lookup().findVarHandle(RenameSequence.class, "sequence", long.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}

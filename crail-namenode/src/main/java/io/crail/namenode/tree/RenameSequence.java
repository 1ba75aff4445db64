/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Makes renames atomic for lookups that take no lock: the sequence is odd while a name is being
 * changed, and a lookup is valid only if the sequence was even and the same before and after it. A
 * lookup that fails several times in a row stops renames while it runs. Thread-safe.
 */
final class RenameSequence {
  /** How often a lookup tries before it stops renames. */
  static final int ATTEMPTS = 8;

  // Fair, so that a stream of renames cannot starve a lookup.
  private final ReentrantLock lock = new ReentrantLock(true);
  private volatile long sequence;

  /** Begins a lookup. The result is odd when a rename is running. */
  long read() {
    return sequence;
  }

  /** True when no rename ran since {@link #read()} gave {@code before}. */
  boolean isUnchanged(long before) {
    VarHandle.acquireFence();
    return (before & 1) == 0 && sequence == before;
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
    lock.lock();
    try {
      return lookup.get();
    } finally {
      lock.unlock();
    }
  }

  /** Keeps renames from running until {@link #unlock()}. */
  public void lock() {
    lock.lock();
  }

  /** Lets renames run again. */
  public void unlock() {
    lock.unlock();
  }

  /**
   * A change of a name.
   *
   * @param <T> the result
   */
  interface Change<T> {
    /** Makes the change, or changes nothing and throws. */
    T make() throws CrailException;
  }

  /** Runs a change of a name. No other rename can change what it looks at. */
  <T> T run(Change<T> change) throws CrailException {
    lock.lock();
    try {
      sequence++;
      VarHandle.fullFence();
      return change.make();
    } finally {
      sequence++;
      lock.unlock();
    }
  }
}

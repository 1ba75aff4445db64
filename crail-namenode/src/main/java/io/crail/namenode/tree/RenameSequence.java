/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Makes renames atomic for lookups that take no lock: the sequence is odd while a name is being
 * changed, and a lookup counts only when the sequence was even and the same before and after it. A
 * lookup that loses several times in a row stops renames for the moment it needs. Thread-safe.
 */
final class RenameSequence {
  /** How often a lookup tries before it stops renames. */
  static final int ATTEMPTS = 8;

  // Fair, so that a stream of renames cannot starve a lookup.
  private final ReentrantLock lock = new ReentrantLock(true);
  private volatile long sequence;

  /** Begins a lookup; odd when a rename is running. */
  long read() {
    return sequence;
  }

  /** True when no rename ran since {@link #read()} gave {@code before}. */
  boolean isUnchanged(long before) {
    VarHandle.acquireFence();
    return (before & 1) == 0 && sequence == before;
  }

  /** Gives the answer of a lookup of several steps as it is at one moment between renames. */
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
   * @param <T> what it gives
   */
  interface Change<T> {
    /** Makes it, or changes nothing and throws. */
    T make() throws CrailException;
  }

  /** Makes the change of a name; what it looks at before that is changed by no other rename. */
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

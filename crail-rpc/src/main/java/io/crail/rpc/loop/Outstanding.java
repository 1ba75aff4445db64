/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/** Counts a loop's operations that have begun and not ended. */
final class Outstanding {
  private static final VarHandle CALLS;

  static {
    try {
      CALLS = MethodHandles.lookup().findVarHandle(Outstanding.class, "calls", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final AtomicLong operations = new AtomicLong();

  // Written by the driver, read by any thread.
  private long calls;

  /** Counts an operation that has begun. For any thread. */
  void operationBegun() {
    operations.incrementAndGet();
  }

  /** Counts the end of an operation. For any thread. */
  void operationEnded() {
    operations.decrementAndGet();
  }

  /** Counts a call, at no cost, since only one thread at a time counts here. In the loop. */
  void callBegun() {
    CALLS.setOpaque(this, calls + 1);
  }

  /** Counts the end of a call. In the loop. */
  void callEnded() {
    CALLS.setOpaque(this, calls - 1);
  }

  /** The present count. For any thread. */
  long count() {
    return operations.get() + (long) CALLS.getOpaque(this);
  }
}

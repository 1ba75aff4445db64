/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.Supplier;

/** Conditions that must hold for every input. Stateless. */
final class Require {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Bytes that any message may allocate, for example for an exception. */
  private static final long FREE_BYTES = 256 << 10;

  private Require() {}

  /** Fails unless the condition is true. */
  static void that(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  /** Fails unless the condition is true. */
  static void that(boolean condition, Supplier<String> what) {
    if (!condition) {
      throw new AssertionError(what.get());
    }
  }

  /** Fails unless both are equal. */
  static void equal(Object expected, Object actual, String what) {
    if (!expected.equals(actual)) {
      throw new AssertionError(what + ": expected " + expected + ", was " + actual);
    }
  }

  /** A repeatable action that always has the same result. */
  interface Decoding<E extends Exception> {
    void run() throws E;
  }

  /** Fails when the action allocates far more heap in this thread than the input has bytes. */
  static <E extends Exception> void modest(String what, int inputBytes, Decoding<E> decoding)
      throws E {
    long cost = cost(decoding);
    if (cost > FREE_BYTES + 100L * inputBytes) {
      // The first time may have loaded classes.
      cost = cost(decoding);
      if (cost > FREE_BYTES + 100L * inputBytes) {
        throw new AssertionError(what + ": " + inputBytes + " bytes cost " + cost);
      }
    }
  }

  private static <E extends Exception> long cost(Decoding<E> decoding) throws E {
    long self = Thread.currentThread().getId();
    long before = THREADS.getThreadAllocatedBytes(self);
    decoding.run();
    return THREADS.getThreadAllocatedBytes(self) - before;
  }
}

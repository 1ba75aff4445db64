/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * Counts what all threads of this process allocate. The least of many rounds counts: what happens
 * now and then, such as a sign of life or a class that is loaded, is in other rounds.
 */
public final class AllocationCount {
  private static final int ROUNDS = 12;

  /** What a round may allocate besides, whatever it does. */
  private static final long ROUND_BYTES = 2 << 10;

  /**
   * What a process allocates in a second beside the operations: sweeps, signs of life. It counts
   * only where a round takes long, as on an emulated machine.
   */
  private static final long BYTES_PER_SECOND = 8 << 10;

  private AllocationCount() {}

  /** What is repeated. */
  public interface Round {
    /** Does it once. */
    void run() throws Exception;
  }

  /**
   * Asserts that a round allocates little.
   *
   * @param what for messages
   * @param operations of a round, so many that those who count do not count
   * @param limitBytes most for each operation
   */
  public static void assertAtMost(String what, int operations, int limitBytes, Round round)
      throws Exception {
    // The more threads there are, the more it is.
    long counting = least(() -> {});
    long least = least(round) - counting;
    double each = (double) least / operations;
    System.out.printf(Locale.ROOT, "%s: %.2f bytes each%n", what, each);
    assertTrue(
        least <= (long) limitBytes * operations + ROUND_BYTES, what + ": " + each + " bytes");
  }

  private static long least(Round round) throws Exception {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long startNanos = System.nanoTime();
      long start = allocated();
      round.run();
      long all = allocated() - start;
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      least = Math.min(least, all - (long) (seconds * BYTES_PER_SECOND));
    }
    return least;
  }

  private static long allocated() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long sum = 0;
    for (long each : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
      sum += Math.max(0, each);
    }
    return sum;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import java.util.Random;

/**
 * A source of decisions: a seed, or the bytes of a fuzzer's input, so that the fuzzer controls the
 * decisions.
 */
public interface Choices {
  /** A number from 0 (inclusive) to {@code bound} (exclusive). */
  int below(int bound);

  /** Any 64 bits. */
  long bits();

  /** Decisions that a seed repeats. */
  static Choices of(Random random) {
    return new Choices() {
      @Override
      public int below(int bound) {
        return random.nextInt(bound);
      }

      @Override
      public long bits() {
        return random.nextLong();
      }
    };
  }
}

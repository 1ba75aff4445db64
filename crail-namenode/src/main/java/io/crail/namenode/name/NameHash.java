/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.name;

import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/**
 * The hash of a name under its parent, with secret seeds, so that a client cannot choose names that
 * collide. A hash never decides alone: names are compared whole. Immutable.
 */
public final class NameHash {
  private final long seed;
  private final long multiplier;
  private final long finisher;

  public NameHash(RandomGenerator random) {
    this.seed = random.nextLong();
    this.multiplier = random.nextLong() | 1;
    this.finisher = random.nextLong() | 1;
  }

  /** The hash of the name in {@code [start, end)} of {@code buffer}. */
  public long of(long parentId, ByteBuffer buffer, int start, int end) {
    long hash = fold(seed ^ parentId, finisher);
    int at = start;
    do {
      hash = fold(hash ^ NodeName.word(buffer, at, end), multiplier);
      at += Long.BYTES;
    } while (at < end);
    return fold(hash ^ (end - start), finisher);
  }

  /** The hash of a name of up to {@link NodeName#INLINE_LENGTH} bytes, the same as by its bytes. */
  public long of(long parentId, long word0, long word1, long word2, int length) {
    long hash = fold(seed ^ parentId, finisher);
    hash = fold(hash ^ word0, multiplier);
    if (length > Long.BYTES) {
      hash = fold(hash ^ word1, multiplier);
      if (length > 2 * Long.BYTES) {
        hash = fold(hash ^ word2, multiplier);
      }
    }
    return fold(hash ^ length, finisher);
  }

  /**
   * Combines both halves of the 128-bit product, so that every input bit affects every output bit.
   */
  private static long fold(long a, long b) {
    return a * b ^ Math.multiplyHigh(a, b);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.nio.charset.StandardCharsets;

/**
 * The paths {@code <directory>/f00000000}, {@code <directory>/f00000001} and so on, in order or
 * uniformly at random. A path is made when it is needed. A million paths held as objects would cost
 * the client a cache miss each, which would distort the figures of the cluster. Not thread-safe.
 */
public final class RandomNames {
  /** The most names. */
  public static final int MAX_COUNT = 100_000_000;

  private static final int DIGITS = 8;
  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private final byte[] path;
  private final int count;
  private long state;

  /**
   * Creates the names.
   *
   * @param directory path of the directory
   * @param count the number of names, at most 100 million
   * @param seed for the random order
   */
  public RandomNames(String directory, int count, long seed) {
    String prefix = directory.endsWith("/") ? directory : directory + "/";
    this.path = (prefix + "f" + "0".repeat(DIGITS)).getBytes(StandardCharsets.UTF_8);
    this.count = count;
    this.state = seed;
  }

  /** The number of names. */
  public int count() {
    return count;
  }

  /** The path with an index. */
  public String path(int index) {
    int rest = index;
    for (int i = path.length - 1; i >= path.length - DIGITS; i--) {
      path[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    return new String(path, StandardCharsets.UTF_8);
  }

  /** A random index, the same sequence for the same seed. */
  public int nextIndex() {
    // SplitMix64. Its high bits select the name: uniform to within 2^-37 for a million names.
    state += GOLDEN_GAMMA;
    long mixed = (state ^ state >>> 30) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
    mixed ^= mixed >>> 31;
    return (int) Math.multiplyHigh(mixed >>> 1, (long) count << 1);
  }

  /** A random path. */
  public String next() {
    return path(nextIndex());
  }
}

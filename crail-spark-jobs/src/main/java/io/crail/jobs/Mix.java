/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

/** Mixes bits, so that near numbers give far ones. Stateless. */
final class Mix {
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private Mix() {}

  /** A number that both others decide. */
  static long of(long seed, long number) {
    long mixed = seed * GOLDEN + number;
    mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}

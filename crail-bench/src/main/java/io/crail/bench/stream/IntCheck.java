/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.bench.record.BenchException;
import io.crail.bench.run.BenchRun;

/**
 * Counts the ints that differ from the written ones, and remembers the first. Used by one thread.
 */
final class IntCheck {
  private final String path;
  private long checked;
  private long wrong;
  private String first;

  /** Creates a check for the content of a path. */
  IntCheck(String path) {
    this.path = path;
  }

  /** Compares the int at a position, which is in bytes. */
  void expect(long position, int expected, int found) {
    checked++;
    if (found != expected) {
      wrong(position, expected, found);
    }
  }

  private void wrong(long position, int expected, int found) {
    if (wrong++ == 0) {
      first = "position " + position + ": expected " + expected + ", found " + found;
    }
  }

  /**
   * Prints how many ints were wrong. Returns only when none was wrong.
   *
   * @throws BenchException that names the first wrong int
   */
  void report(BenchRun run) throws BenchException {
    run.print("falseMatches " + wrong);
    verdict();
  }

  /**
   * Returns only when all ints were right.
   *
   * @throws BenchException that names the first wrong int
   */
  void verdict() throws BenchException {
    if (wrong > 0) {
      throw new BenchException(
          path + ", " + first + " (" + wrong + " of " + checked + " ints are wrong)");
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.bench.record.BenchException;
import io.crail.bench.run.BenchRun;

/** Counts the ints that are not what was written, and remembers the first. Used by one thread. */
final class IntCheck {
  private final String path;
  private long checked;
  private long wrong;
  private String first;

  /** A check of what is at a path. */
  IntCheck(String path) {
    this.path = path;
  }

  /** Compares an int at a position, in bytes. */
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
   * Prints how many were wrong, and ends well if none was.
   *
   * @throws BenchException that names the first that was not
   */
  void tell(BenchRun run) throws BenchException {
    run.print("falseMatches " + wrong);
    verdict();
  }

  /**
   * Ends well if all were right.
   *
   * @throws BenchException that names the first that was not
   */
  void verdict() throws BenchException {
    if (wrong > 0) {
      throw new BenchException(
          path + ", " + first + " (" + wrong + " of " + checked + " ints are wrong)");
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.Printable;
import java.io.PrintStream;
import java.util.function.Supplier;

/** Prints how far something is, now and then. Used by one thread. */
public final class ProgressLines implements Runnable {
  private static final long INTERVAL_NANOS = 5_000_000_000L;
  private static final long FIRST_NANOS = 1_000_000_000L;

  private final PrintStream out;
  private final Supplier<String> text;
  private long nextNanos = System.nanoTime() + FIRST_NANOS;
  private String last = "";

  /**
   * Creates it.
   *
   * @param text gives the line
   */
  public ProgressLines(PrintStream out, Supplier<String> text) {
    this.out = out;
    this.text = text;
  }

  /** Prints a line if it is time, and the line is another one than the last. */
  @Override
  public void run() {
    long now = System.nanoTime();
    if (now - nextNanos < 0) {
      return;
    }
    nextNanos = now + INTERVAL_NANOS;
    String line = Printable.line(text.get());
    if (!line.equals(last)) {
      last = line;
      out.println(line);
      out.flush();
    }
  }
}

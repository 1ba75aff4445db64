/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import java.io.PrintStream;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes were moved before a measurement. Used by one thread, while another shows the
 * number on a terminal.
 */
public final class Preparation implements AutoCloseable {
  private final AtomicLong moved = new AtomicLong();
  private final AutoCloseable shown;

  /**
   * Begins.
   *
   * @param terminal where to show it; null for nowhere
   */
  Preparation(PrintStream terminal, String what, long bytes) {
    this.shown = terminal == null ? () -> {} : Progress.ofBytes(terminal, what, bytes, moved::get);
  }

  /** Adds bytes. */
  public void moved(long bytes) {
    moved.addAndGet(bytes);
  }

  @Override
  public void close() throws Exception {
    shown.close();
  }
}

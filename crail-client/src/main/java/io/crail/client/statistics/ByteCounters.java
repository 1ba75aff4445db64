/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.statistics;

import java.util.concurrent.atomic.LongAdder;

/** Bytes that went one way: over the network to a tier, or within this host. Thread-safe. */
public final class ByteCounters {
  /** The name of the way within this host. */
  static final String LOCAL = "local";

  private final LongAdder read = new LongAdder();
  private final LongAdder written = new LongAdder();

  ByteCounters() {}

  /** The bytes of one direction. */
  public LongAdder bytes(boolean areWritten) {
    return areWritten ? written : read;
  }

  void reset() {
    read.reset();
    written.reset();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.Clock;
import io.crail.namenode.log.LogDirectory.LogFile;
import java.io.IOException;

/** What a log has written. One thread at a time writes it, any thread may read it. */
public final class LogCounters {
  private volatile long bytes;
  private volatile long forces;
  private volatile long forceNanos;

  LogCounters(long bytes) {
    this.bytes = bytes;
  }

  void wrote(long more) {
    bytes += more;
  }

  void force(LogFile file, Clock clock) throws IOException {
    long begun = clock.nanoTime();
    file.force();
    forceNanos += clock.nanoTime() - begun;
    forces++;
  }

  /** Bytes of all that was read at the start and written since then. */
  public long bytes() {
    return bytes;
  }

  /** How often it has waited for the disk. */
  public long forces() {
    return forces;
  }

  /** How long that has taken, all together. */
  public long forceNanos() {
    return forceNanos;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

/** What a log has written. Written under a lock, read by any thread. */
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

  void committed(long nanos) {
    forceNanos += nanos;
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

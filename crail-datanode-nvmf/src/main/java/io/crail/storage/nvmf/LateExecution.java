/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import java.time.Duration;

/**
 * How long a target may still execute requests of a client that has disappeared, or that has not
 * noticed yet that a namespace has another owner. The client's keep-alive time decides, so a
 * datanode gives its clients which one to use, by {@link
 * io.crail.protocol.part.TierTraits#drainMillis}. Stateless.
 */
final class LateExecution {
  /**
   * A client sends nothing when its last look at the label is older than one keep-alive time. A
   * target notices after one to two of them that a host is gone, and then ends what it has begun.
   */
  private static final int KEEP_ALIVES = 3;

  /** How long a target may take to end it. */
  private static final int END_MILLIS = 1000;

  private static final long LEAST_MILLIS = 1000;

  private LateExecution() {}

  /** The drain of clients that use a keep-alive time. */
  static int millis(Duration keepAlive) {
    return Math.toIntExact(KEEP_ALIVES * keepAlive.toMillis() + END_MILLIS);
  }

  /** The keep-alive time of clients that have a drain; a second at least. */
  static Duration keepAlive(int drainMillis) {
    return Duration.ofMillis(Math.max(LEAST_MILLIS, (drainMillis - END_MILLIS) / KEEP_ALIVES));
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import java.time.Duration;

/**
 * How long a target may still execute what a client has sent that is gone. The client's keep-alive
 * time decides, so a datanode tells its clients which one to use, by {@link
 * io.crail.protocol.part.TierTraits#drainMillis}. Stateless.
 */
final class Drain {
  /**
   * A target notices after one to two keep-alive times that a host is gone, and then ends what the
   * host has begun.
   */
  private static final int KEEP_ALIVES = 2;

  /** How long a target may take to end it. */
  private static final long END_MILLIS = 1000;

  /** Targets count in whole seconds. */
  private static final long UNIT_MILLIS = 1000;

  private Drain() {}

  /** The drain of clients that use a keep-alive time. */
  static int millis(Duration keepAlive) {
    long counted = (keepAlive.toMillis() + UNIT_MILLIS - 1) / UNIT_MILLIS * UNIT_MILLIS;
    return Math.toIntExact(KEEP_ALIVES * counted + END_MILLIS);
  }

  /** The longest keep-alive time of clients that have a drain; a second at least. */
  static Duration keepAlive(int drainMillis) {
    long millis = (drainMillis - END_MILLIS) / KEEP_ALIVES;
    return Duration.ofMillis(Math.max(UNIT_MILLIS, millis));
  }
}

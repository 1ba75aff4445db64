/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.time.Duration;

/**
 * How a host uses a controller.
 *
 * @param depth the most I/O commands in flight, at least 1
 * @param keepAlive how long the controller lives without a sign of the host; the host gives one in
 *     half of that time; 0: for ever, without signs
 * @param timeoutNanos how long a command of the admin queue may take
 */
public record ControllerLimits(int depth, Duration keepAlive, long timeoutNanos) {
  /** Steps of a start, each of which has the time of a command, and one in reserve. */
  private static final int START_STEPS = 8;

  /** The longest time that a controller can ask for to become ready. */
  private static final long LONGEST_NANOS = 255 * 500_000_000L;

  /**
   * How long the whole start of a controller may take. Each of its steps has a deadline of its own,
   * which comes earlier.
   */
  public long startNanos() {
    return START_STEPS * timeoutNanos + LONGEST_NANOS;
  }

  /** The same for a controller that gives no signs. */
  public ControllerLimits withoutKeepAlive() {
    return new ControllerLimits(depth, Duration.ZERO, timeoutNanos);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.time.Duration;

/**
 * How a host uses a controller.
 *
 * @param depth the most I/O commands in flight, at least 1
 * @param keepAlive how long the controller lives without a sign of the host; the host gives one in
 *     half of that time; 0: no limit, and no signs
 * @param timeoutNanos how long a command of the admin queue may take
 * @param readyNanos how much longer the whole start may take, if the controller asks for time to
 *     become ready
 */
public record ControllerLimits(int depth, Duration keepAlive, long timeoutNanos, long readyNanos) {
  /** Steps of a start, and one in reserve. Each has the time of a command. */
  private static final int START_STEPS = 8;

  /** The longest time that a controller can ask for. */
  private static final long LONGEST_READY_NANOS = 255 * 500_000_000L;

  /** The limits of controllers that become ready in the time of a command. */
  public ControllerLimits(int depth, Duration keepAlive, long timeoutNanos) {
    this(depth, keepAlive, timeoutNanos, 0);
  }

  /** How long the whole start of a controller may take. */
  public long startNanos() {
    return START_STEPS * timeoutNanos + readyNanos;
  }

  /** The same for who leaves it to the controller how long it takes to become ready. */
  public ControllerLimits patient() {
    return new ControllerLimits(depth, keepAlive, timeoutNanos, LONGEST_READY_NANOS);
  }

  /** The same for a controller that gives no signs. */
  public ControllerLimits withoutKeepAlive() {
    return new ControllerLimits(depth, Duration.ZERO, timeoutNanos);
  }
}

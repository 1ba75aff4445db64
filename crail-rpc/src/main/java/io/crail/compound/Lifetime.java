/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long a node lives. When its time is over, the namenode removes it, with all that is below it,
 * usually within a fifth of a second.
 *
 * @param millis milliseconds; 0 for no limit
 * @param sinceAccess whether they begin again with each access: a lookup, a search for its bytes, a
 *     change of its attributes or a compound operation, but not those of nodes below it. While a
 *     stream writes to the node, such a lifetime does not run out
 */
public record Lifetime(long millis, boolean sinceAccess) {
  /** No limit. */
  public static final Lifetime UNLIMITED = new Lifetime(0, false);

  /** The longest lifetime that has a limit: a hundred years. */
  public static final long MAX_MILLIS = TimeUnit.DAYS.toMillis(36_525);

  /**
   * Checks the limit.
   *
   * @param millis milliseconds; 0 for no limit
   * @param sinceAccess whether they begin again with each access
   */
  public Lifetime {
    if (millis < 0 || millis > MAX_MILLIS || sinceAccess && millis == 0) {
      throw new IllegalArgumentException(
          "a lifetime of " + millis + " ms, must be 1 to " + MAX_MILLIS);
    }
  }

  /**
   * A lifetime that begins with the operation that sets it.
   *
   * @param duration from a millisecond to a hundred years
   * @return the lifetime
   */
  public static Lifetime of(Duration duration) {
    return limited(duration, false);
  }

  /**
   * A lifetime that begins again with each access.
   *
   * @param duration from a millisecond to a hundred years
   * @return the lifetime
   */
  public static Lifetime sinceAccess(Duration duration) {
    return limited(duration, true);
  }

  private static Lifetime limited(Duration duration, boolean sinceAccess) {
    if (duration.compareTo(Duration.ofMillis(1)) < 0
        || duration.compareTo(Duration.ofMillis(MAX_MILLIS)) > 0) {
      throw new IllegalArgumentException(
          "a lifetime of " + duration + ", must be a millisecond to a hundred years");
    }
    return new Lifetime(duration.toMillis(), sinceAccess);
  }

  /** {@return whether it ends at all} */
  public boolean isLimited() {
    return millis > 0;
  }
}

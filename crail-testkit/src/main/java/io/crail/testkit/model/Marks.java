/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import java.nio.LongBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What lists of steps have given a key, beside its bytes. Immutable.
 *
 * @param version how many lists have changed it
 * @param epoch its epoch
 * @param first the attribute {@code first}, or {@link #NONE}
 * @param second the attribute {@code second}, or {@link #NONE}
 * @param endMillis the earliest end of its lifetime, in milliseconds since 1970; 0 for none
 * @param latestMillis the latest end of its lifetime; 0 for none, or while it is unknown
 */
public record Marks(
    long version, long epoch, long first, long second, long endMillis, long latestMillis) {
  /** A missing attribute. */
  public static final long NONE = Long.MIN_VALUE;

  /** Those of a node that no list has changed. */
  public static final Marks NEW = new Marks(0, 0, NONE, NONE, 0, 0);

  /** The names of the attributes. */
  public static final List<String> NAMES = List.of("first", "second");

  /** The longest lifetime that the lists of a test set. */
  public static final long LONGEST_LIFE_MILLIS = TimeUnit.SECONDS.toMillis(3);

  /** The number of longs of an encoded one. */
  static final int LONGS = 6;

  /** How much earlier than asked a node may end, by clocks that are read a moment later. */
  private static final long EARLY_MILLIS = 50;

  /** How much later than asked a node may be found. */
  private static final long LATE_MILLIS = 1000;

  /** The number that an attribute has; {@link #NONE} when it is missing. */
  public long attribute(String name) {
    return name.equals(NAMES.get(0)) ? first : second;
  }

  /** The same with another value of an attribute. */
  public Marks with(String name, long number) {
    return name.equals(NAMES.get(0))
        ? new Marks(version, epoch, number, second, endMillis, latestMillis)
        : new Marks(version, epoch, first, number, endMillis, latestMillis);
  }

  /** The same with another epoch. */
  public Marks withEpoch(long newEpoch) {
    return new Marks(version, newEpoch, first, second, endMillis, latestMillis);
  }

  /** The same with another version. */
  public Marks withVersion(long newVersion) {
    return new Marks(newVersion, epoch, first, second, endMillis, latestMillis);
  }

  /** The same with another lifetime. */
  public Marks withEnd(long earliest, long latest) {
    return new Marks(version, epoch, first, second, earliest, latest);
  }

  /** True when both are the same to a reader, who does not see the end. */
  public boolean agreesWith(Marks other) {
    return withEnd(0, 0).equals(other.withEnd(0, 0));
  }

  /** True when a node may be gone by now. */
  public boolean mayHaveEnded(long nowMillis) {
    return endMillis != 0 && nowMillis >= endMillis - EARLY_MILLIS;
  }

  /** True when a node that was looked for at this time must not have been found. */
  public boolean mustHaveEnded(long beginMillis) {
    return latestMillis != 0 && beginMillis >= latestMillis + LATE_MILLIS;
  }

  void encode(LongBuffer target) {
    target.put(version).put(epoch).put(first).put(second).put(endMillis).put(latestMillis);
  }

  static Marks decode(LongBuffer source) {
    return new Marks(
        source.get(), source.get(), source.get(), source.get(), source.get(), source.get());
  }

  @Override
  public String toString() {
    String text = "version " + version + ", epoch " + epoch;
    for (String name : NAMES) {
      text += attribute(name) == NONE ? "" : ", " + name + " " + attribute(name);
    }
    return endMillis == 0 ? text : text + ", until " + endMillis + " to " + latestMillis;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * Which tier a node's bytes should lie in: its class is asked for space first, then the others in
 * the configured order, unless the class is {@linkplain #strict() strict}. Immutable.
 */
public final class CrailStorageClass {
  /** The class of the parent. */
  public static final CrailStorageClass PARENT = new CrailStorageClass(-1, false);

  /** The first class. */
  public static final CrailStorageClass DEFAULT = new CrailStorageClass(0, false);

  private final int value;
  private final boolean strict;

  private CrailStorageClass(int value, boolean strict) {
    this.value = value;
    this.strict = strict;
  }

  /**
   * The class of a number, -1 for the parent's.
   *
   * @throws IllegalArgumentException for a number below -1 or above 255
   */
  public static CrailStorageClass get(int value) {
    if (value < -1 || value > 255) {
      throw new IllegalArgumentException("storage class must be -1 to 255, not " + value);
    }
    return new CrailStorageClass(value, false);
  }

  /** The same class, and no other: an operation that finds no space in it fails. */
  public CrailStorageClass strict() {
    return new CrailStorageClass(value, true);
  }

  /** True when space may come from no other class. */
  public boolean isStrict() {
    return strict;
  }

  /** The number. */
  public int value() {
    return value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CrailStorageClass that && value == that.value && strict == that.strict;
  }

  @Override
  public int hashCode() {
    return value * 2 + (strict ? 1 : 0);
  }

  @Override
  public String toString() {
    return strict ? value + " (strict)" : String.valueOf(value);
  }
}

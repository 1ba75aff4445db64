/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * The tier that should hold a node's bytes. Space is taken from the class itself first, then from
 * the other classes in the configured order, unless the class is {@linkplain #strict() strict}.
 * Immutable.
 */
public final class CrailStorageClass {
  /** The storage class of the parent. */
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
   * Returns the class of a number.
   *
   * @param value the number; -1 for the parent's class
   * @return the class
   * @throws IllegalArgumentException for a number below -1 or above 255
   */
  public static CrailStorageClass get(int value) {
    if (value < -1 || value > 255) {
      throw new IllegalArgumentException("storage class must be -1 to 255, not " + value);
    }
    return new CrailStorageClass(value, false);
  }

  /**
   * {@return the same class without the other classes in reserve: an operation that finds no space
   * in it fails}
   */
  public CrailStorageClass strict() {
    return new CrailStorageClass(value, true);
  }

  /** {@return true when space may come from no other class} */
  public boolean isStrict() {
    return strict;
  }

  /** {@return the number of this class} */
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

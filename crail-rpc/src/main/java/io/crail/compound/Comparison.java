/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.function.IntPredicate;

/** How a guard compares what is there (left) with what the step says (right). */
public enum Comparison {
  /** Both are equal. */
  EQUAL(0, "equal", order -> order == 0),
  /** They differ. */
  NOT_EQUAL(1, "different from", order -> order != 0),
  /** What is there is less. */
  LESS(2, "less than", order -> order < 0),
  /** What is there is less, or equal. */
  AT_MOST(3, "at most", order -> order <= 0),
  /** What is there is greater. */
  GREATER(4, "greater than", order -> order > 0),
  /** What is there is greater, or equal. */
  AT_LEAST(5, "at least", order -> order >= 0);

  private static final Comparison[] BY_NUMBER = values();

  private final int number;
  private final String text;
  private final IntPredicate holds;

  Comparison(int number, String text, IntPredicate holds) {
    this.number = number;
    this.text = text;
    this.holds = holds;
  }

  /** {@return the permanent number} */
  public int number() {
    return number;
  }

  /**
   * Whether the guard holds.
   *
   * @param order below, equal to or above 0, as {@link Comparable#compareTo} returns it
   * @return whether it does
   */
  public boolean holds(int order) {
    return holds.test(order);
  }

  /**
   * The comparison of a number.
   *
   * @param number the permanent number
   * @return the comparison
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} when there is none
   */
  public static Comparison of(int number) throws CrailException {
    if (number < 0 || number >= BY_NUMBER.length) {
      throw ErrorCode.INVALID_ARGUMENT.exception("comparison " + number);
    }
    return BY_NUMBER[number];
  }

  /** {@return as in "version at most 3"} */
  @Override
  public String toString() {
    return text;
  }
}

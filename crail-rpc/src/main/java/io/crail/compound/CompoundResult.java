/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.Map;

/**
 * What a {@link CompoundOperation} gave. Immutable. The methods for a step throw an {@link
 * IndexOutOfBoundsException} for one that has no result.
 */
public interface CompoundResult {
  /** {@return whether no step has ended the list, so that all it changes is done} */
  boolean isSuccess();

  /** {@return the index of the step that failed and ended the list; -1 for none} */
  int failedStep();

  /** {@return why that step failed, with its name; null for none} */
  CrailException failure();

  /**
   * {@return this, if no step has ended the list}
   *
   * @throws CrailException the {@link #failure()}, such as a {@code ConditionFailedException}
   */
  CompoundResult orThrow() throws CrailException;

  /** {@return whether there is a node afterwards} */
  boolean exists();

  /** {@return the node's id afterwards; 0 for no node} */
  long id();

  /** {@return bytes of the node afterwards} */
  long size();

  /**
   * {@return the version of the node afterwards: how often lists have changed it, or streams its
   * bytes since the first list}
   */
  long version();

  /** {@return the epoch of the node afterwards} */
  long epoch();

  /** {@return the number of steps with a result: up to the one that ended the list} */
  int count();

  /**
   * The outcome of a step.
   *
   * @param step its index
   * @return {@link ErrorCode#OK} for success
   */
  ErrorCode code(int step);

  /**
   * The number that a step read or made.
   *
   * @param step its index
   * @return the number; 0 for a step that gives none
   */
  long number(int step);

  /**
   * The bytes that a step read.
   *
   * @param step its index
   * @return a copy; empty for a step that reads none
   */
  byte[] bytes(int step);

  /**
   * The attributes that a step read.
   *
   * @param step the index of a step that reads all attributes, and has not failed
   * @return their names and values, in the order of the names
   * @throws IllegalStateException for another step
   */
  Map<String, byte[]> attributes(int step);

  /**
   * The quota that a step read.
   *
   * @param step the index of a step that reads the usage of a directory, and has not failed
   * @return limits and use
   * @throws IllegalStateException for another step
   */
  DirectoryUsage usage(int step);
}

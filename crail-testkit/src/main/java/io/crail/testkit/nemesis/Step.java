/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import java.util.Locale;

/**
 * One fault of a plan.
 *
 * @param atMillis when it begins, counted from the beginning of the plan
 * @param millis how long it lasts
 * @param fault the fault
 * @param role the kind of process
 * @param index the index of the process
 */
public record Step(long atMillis, long millis, Fault fault, Role role, int index) {
  /** When it ends. */
  public long endMillis() {
    return atMillis + millis;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s %s %d from %.3f s for %.3f s",
        fault,
        role,
        index,
        atMillis / 1e3,
        millis / 1e3);
  }
}

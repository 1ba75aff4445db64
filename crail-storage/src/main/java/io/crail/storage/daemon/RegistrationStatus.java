/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.daemon;

import java.util.Locale;

/**
 * How a datanode stands with a namenode.
 *
 * @param namenode the namenode's address
 * @param state what the namenode knows
 * @param silentNanos the time since its last good answer, or since the first step; 0 before that
 */
public record RegistrationStatus(String namenode, State state, long silentNanos) {
  /** What a namenode knows of a datanode. */
  public enum State {
    /** Nothing. */
    UNKNOWN,
    /** The datanode, but not yet all regions. */
    LENDING,
    /** The datanode and all regions. */
    REGISTERED,
    /** It has asked the datanode to end. */
    REMOVED;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** True when the namenode needs nothing more of the datanode. */
  public boolean isSettled() {
    return state == State.REGISTERED || isRemoved();
  }

  /** True when the namenode has asked the datanode to end. */
  public boolean isRemoved() {
    return state == State.REMOVED;
  }
}

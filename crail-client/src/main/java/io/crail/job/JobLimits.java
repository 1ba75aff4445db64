/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.job;

/**
 * The most that the directory of a job may hold. What would exceed it is refused.
 *
 * @param bytes bytes of space, or {@link #NONE}
 * @param names files, directories and so on below it, or {@link #NONE}
 */
public record JobLimits(long bytes, long names) {
  /** In place of a limit: none. */
  public static final long NONE = -1;

  /** Any number of bytes and names. */
  public static final JobLimits UNLIMITED = new JobLimits(NONE, NONE);

  /**
   * Checks the limits.
   *
   * @param bytes bytes of space, or {@link #NONE}
   * @param names files, directories and so on below it, or {@link #NONE}
   * @throws IllegalArgumentException for less than {@link #NONE}
   */
  public JobLimits {
    if (bytes < NONE || names < NONE) {
      throw new IllegalArgumentException("limits of " + bytes + " bytes and " + names + " names");
    }
  }
}

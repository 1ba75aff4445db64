/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

/** The exit codes of commands; 0 is success. */
public final class ExitCode {
  /** A command that failed. */
  public static final int FAILURE = 1;

  /** A command line or configuration that cannot be used. */
  public static final int USAGE = 2;

  /** A report lacks the part of a namenode that is down. */
  public static final int PARTIAL = 3;

  /** A thread of a server has died, and the process with it. */
  public static final int DEAD_THREAD = 4;

  private ExitCode() {}
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/**
 * Ends a workload before its last operation, from where it tells of one. Unchecked, for every
 * workload is to let it pass; the crew that runs the workload takes it.
 */
public final class RunStopped extends RuntimeException {
  private static final long serialVersionUID = 1;

  private RunStopped(String message, Throwable cause) {
    super(message, cause, false, false);
  }

  /** For a reason that somebody else knows. */
  public static RunStopped quietly() {
    return new RunStopped("stopped", null);
  }

  /** Because of a failure. */
  public static RunStopped because(Throwable failure) {
    return new RunStopped(failure.toString(), failure);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/**
 * Ends a workload before its last operation. Thrown where the workload reports an operation.
 * Unchecked, since workloads must not catch it; the crew that runs the workload does.
 */
public final class RunStopped extends RuntimeException {
  private static final long serialVersionUID = 1;

  private RunStopped(String message, Throwable cause) {
    super(message, cause, false, false);
  }

  /** For a reason that is reported elsewhere. */
  public static RunStopped quietly() {
    return new RunStopped("stopped", null);
  }

  /** Because of a failure. */
  public static RunStopped because(Throwable failure) {
    return new RunStopped(failure.toString(), failure);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.CrailLocationClass;

/** Prints the location class of this host; measures nothing. */
final class LocationClassPrint implements Workload {
  private final BenchRun run;

  /** Creates the workload. */
  LocationClassPrint(BenchRun run) {
    this.run = run;
  }

  @Override
  public void prepare() {
    if (run.worker() == 0) {
      CrailLocationClass location = run.store().getLocationClass();
      run.print("locationClass " + location.value());
      run.print("host " + location.host());
    }
  }

  @Override
  public void run(long operations, Recorder recorder) {
    recorder.begin();
    recorder.end();
  }
}

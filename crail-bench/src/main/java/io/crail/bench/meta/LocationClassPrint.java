/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailLocationClass;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Prints the location class of this host. Measures nothing. */
public final class LocationClassPrint implements Workload {
  private final BenchRun run;

  /** Creates the workload. */
  public LocationClassPrint(BenchRun run) {
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

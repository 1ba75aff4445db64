/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNode;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Looks up one file, one lookup at a time. */
public class FileLookup implements Workload {
  /** Options and store. */
  protected final BenchRun run;

  /** Creates the workload. */
  public FileLookup(BenchRun run) {
    this.run = run;
  }

  @Override
  public final void prepare() throws Exception {
    run.existing();
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    String path = run.options().path();
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      found(path, run.lookup(path));
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  /** Checks that a lookup has found its node. */
  static void found(String path, CrailNode node) throws BenchException {
    if (node == null) {
      throw new BenchException(path + " is gone");
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Looks up files, chosen at random from many, one lookup at a time. */
public class MultiFileLookup implements Workload {
  /** Options and store. */
  protected final BenchRun run;

  /** The files. */
  protected final RandomNames names;

  /** Creates the workload. */
  public MultiFileLookup(BenchRun run) {
    this.run = run;
    BenchOptions<?> options = run.options();
    this.names = new RandomNames(options.path(), options.names(), options.seed());
  }

  @Override
  public final void prepare() throws Exception {
    new ManyFiles(run, names).ensure();
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      String path = names.next();
      FileLookup.found(path, run.lookup(path));
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;

/** Asks for the status of one file. */
final class HadoopGetFile implements Workload {
  private final HadoopTarget target;

  /** Creates the workload. */
  HadoopGetFile(HadoopTarget target) {
    this.target = target;
  }

  @Override
  public void prepare() throws Exception {
    target.requireFile(1);
    if (target.options().warmUp() > 0) {
      run(target.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      target.fileSystem().getFileStatus(target.path());
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }
}

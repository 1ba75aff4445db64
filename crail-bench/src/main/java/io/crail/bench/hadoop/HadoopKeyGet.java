/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.record.Memory;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import org.apache.hadoop.fs.FSDataInputStream;

/** Opens a small file, reads it and closes it. */
final class HadoopKeyGet implements Workload {
  private final HadoopTarget target;

  /** Creates the workload. */
  HadoopKeyGet(HadoopTarget target) {
    this.target = target;
  }

  @Override
  public void prepare() throws Exception {
    target.requireFile(target.options().size());
    if (target.options().warmUp() > 0) {
      run(target.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    byte[] memory = Memory.heap(target.options().size());
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      try (FSDataInputStream stream = target.fileSystem().open(target.path())) {
        stream.readFully(memory, 0, memory.length);
      }
      long completed = recorder.now();
      recorder.operation(issued, completed, memory.length);
      issued = completed;
    }
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import org.apache.hadoop.fs.Path;

/** Asks for the status of files, chosen at random from many. */
final class HadoopGetMultiFile implements Workload {
  private final HadoopTarget target;
  private final RandomNames names;

  /** Creates the workload. */
  HadoopGetMultiFile(HadoopTarget target) {
    this.target = target;
    this.names =
        new RandomNames(
            target.path().toString(), target.options().names(), target.options().seed());
  }

  @Override
  public void prepare() throws Exception {
    // All workers use the same files, and the first worker is prepared before the others.
    if (target.options().worker() == 0) {
      HadoopNames.ensure(target);
    }
    if (target.options().warmUp() > 0) {
      run(target.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      target.fileSystem().getFileStatus(new Path(names.next()));
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }
}

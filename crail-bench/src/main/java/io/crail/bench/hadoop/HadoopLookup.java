/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import org.apache.hadoop.fs.Path;

/** Asks for the status of one file, or of files that are chosen at random from many. */
final class HadoopLookup implements Workload {
  private final HadoopTarget target;

  /** Null for one file. */
  private final RandomNames names;

  /** Creates the workload. */
  HadoopLookup(HadoopTarget target, boolean ofMany) {
    this.target = target;
    String directory = target.path().toString();
    this.names =
        ofMany
            ? new RandomNames(directory, target.options().names(), target.options().seed())
            : null;
  }

  @Override
  public void prepare() throws Exception {
    if (names == null) {
      target.requireFile(1);
    } else if (target.options().worker() == 0) {
      // All workers use the same files, and the first worker is prepared before the others.
      target.ensureFiles();
    }
    if (target.options().warmUp() > 0) {
      run(target.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      target.fileSystem().getFileStatus(names == null ? target.path() : new Path(names.next()));
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }
}

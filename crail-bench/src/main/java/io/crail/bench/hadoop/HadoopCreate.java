/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.record.BenchException;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Creates empty files, one after the other, in a directory of their own below {@code -f}. */
final class HadoopCreate implements Workload {
  private final HadoopTarget target;
  private final Path directory;
  private boolean parentCreated;

  /** Creates the workload. */
  HadoopCreate(HadoopTarget target) {
    this.target = target;
    this.directory = new Path(target.path(), "hdfsbench-" + System.nanoTime());
  }

  @Override
  public void prepare() throws Exception {
    parentCreated = target.ensureDirectory(target.path());
    if (target.options().warmUp() > 0) {
      run(target.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    if (operations > Integer.MAX_VALUE) {
      throw new BenchException("-k " + operations + ": createFile takes at most 2147483647");
    }
    FileSystem system = target.fileSystem();
    system.delete(directory, true);
    system.mkdirs(directory);
    RandomNames names = new RandomNames(directory.toString(), (int) operations, 0);
    long issued = recorder.begin();
    for (int i = 0; i < operations; i++) {
      system.create(new Path(names.path(i)), false).close();
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  @Override
  public void close() throws Exception {
    target.fileSystem().delete(directory, true);
    if (parentCreated) {
      target.fileSystem().delete(target.path(), false);
    }
  }
}

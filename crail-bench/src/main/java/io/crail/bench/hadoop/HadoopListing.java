/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.record.BenchException;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.RemoteIterator;

/** Lists a directory, or asks for the status of each file in the listing. */
final class HadoopListing implements Workload {
  private final HadoopTarget target;
  private final boolean browse;

  /** Creates the workload. */
  HadoopListing(HadoopTarget target, boolean browse) {
    this.target = target;
    this.browse = browse;
  }

  @Override
  public void prepare() throws Exception {
    target.ensureFiles();
    if (target.options().warmUp() > 0) {
      run(target.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  private RemoteIterator<FileStatus> list() throws Exception {
    return target.fileSystem().listStatusIterator(target.path());
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    RemoteIterator<FileStatus> found = null;
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      if (browse) {
        found = found != null && found.hasNext() ? found : list();
        target.fileSystem().getFileStatus(found.next().getPath());
      } else {
        enumerate();
      }
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  private void enumerate() throws Exception {
    int count = 0;
    for (RemoteIterator<FileStatus> found = list(); found.hasNext(); found.next()) {
      count++;
    }
    if (count < target.options().names()) {
      throw new BenchException(
          target.path()
              + " has "
              + count
              + " of "
              + target.options().names()
              + " files;"
              + " has another client removed some?");
    }
  }
}

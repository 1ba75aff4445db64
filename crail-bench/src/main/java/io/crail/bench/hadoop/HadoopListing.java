/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.BenchException;
import io.crail.bench.RandomNames;
import io.crail.bench.Recorder;
import io.crail.bench.Workload;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/** Lists a directory, or asks for the status of each file that a listing gives. */
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
    target.ensureDirectory(target.path());
    createMissing();
    if (target.options().warmUp() > 0) {
      run(target.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  private void createMissing() throws Exception {
    Set<Path> missing = new HashSet<>();
    int count = target.options().names();
    RandomNames names = new RandomNames(target.path().toString(), count, 0);
    for (int i = 0; i < count; i++) {
      missing.add(target.fileSystem().makeQualified(new Path(names.path(i))));
    }
    for (RemoteIterator<FileStatus> found = list(); found.hasNext(); ) {
      missing.remove(found.next().getPath());
    }
    if (!missing.isEmpty()) {
      target.notice("creating " + missing.size() + " missing files in " + target.path());
      for (Path each : missing) {
        target.fileSystem().create(each, false).close();
      }
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

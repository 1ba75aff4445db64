/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.record.RandomNames;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/** The many empty files that some types list or look up. Stateless. */
final class HadoopNames {
  private HadoopNames() {}

  /** Creates the directory and the missing files. */
  static void ensure(HadoopTarget target) throws Exception {
    target.ensureDirectory(target.path());
    Set<Path> missing = new HashSet<>();
    int count = target.options().names();
    RandomNames names = new RandomNames(target.path().toString(), count, 0);
    for (int i = 0; i < count; i++) {
      missing.add(target.fileSystem().makeQualified(new Path(names.path(i))));
    }
    RemoteIterator<FileStatus> found = target.fileSystem().listStatusIterator(target.path());
    while (found.hasNext()) {
      missing.remove(found.next().getPath());
    }
    if (!missing.isEmpty()) {
      target.notice("creating " + missing.size() + " missing files in " + target.path());
      for (Path each : missing) {
        target.fileSystem().create(each, false).close();
      }
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Creates multi-files: {@code -f}, which is kept, and others beside it, which are deleted. */
public final class CreateMultiFiles implements Workload {
  private final BenchRun run;
  private final String path;
  private long created;

  /** Creates the workload. */
  public CreateMultiFiles(BenchRun run) {
    this.run = run;
    this.path = run.ownPath();
  }

  @Override
  public void prepare() throws Exception {
    CrailNode old = run.lookup(path);
    if (old != null) {
      if (old.getType() != CrailNodeType.MULTIFILE || old.asMultiFile().files() > 0) {
        throw new BenchException(
            path
                + " is there already and is no empty multi-file; delete it first: crail fs -rm -r "
                + path);
      }
      run.deleteIfPresent(path, false);
    }
    String warmUpPath = path + ".warmup";
    try {
      for (long i = 0; i < run.options().warmUp(); i++) {
        run.create(warmUpPath, CrailNodeType.MULTIFILE).syncDir();
        run.deleteIfPresent(warmUpPath, false);
      }
    } finally {
      run.deleteIfPresent(warmUpPath, false);
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    long issued = recorder.begin();
    while (created < operations) {
      run.create(path(created), CrailNodeType.MULTIFILE).syncDir();
      created++;
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  private String path(long index) {
    return index == 0 ? path : path + "-" + index;
  }

  @Override
  public void close() throws Exception {
    for (long i = 1; i < created; i++) {
      run.deleteIfPresent(path(i), false);
    }
    run.deleteOwnPath();
  }
}

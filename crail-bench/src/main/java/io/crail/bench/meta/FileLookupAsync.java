/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNode;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.util.concurrent.Future;

/** Looks up one file, with several lookups in flight. */
public final class FileLookupAsync extends FileLookup {
  /** Creates the workload. */
  public FileLookupAsync(BenchRun run) {
    super(run);
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    String path = run.options().path();
    Pipeline<CrailNode> pipeline =
        new Pipeline<>(
            run.options().batch(),
            new Pipeline.Operation<>() {
              @Override
              public Future<CrailNode> issue(int slot) throws Exception {
                return run.store().lookup(path);
              }

              @Override
              public long complete(CrailNode node, int slot) throws BenchException {
                found(path, node);
                return 0;
              }
            });
    recorder.begin();
    pipeline.run(operations, recorder);
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.util.concurrent.Future;

/** Creates files with several creates in flight. */
public final class CreateFilesAsync extends CreateFiles {
  /** Creates the workload. */
  public CreateFilesAsync(BenchRun run) {
    super(run);
  }

  @Override
  protected void create(RandomNames names, Recorder recorder) throws Exception {
    Pipeline<CrailNode> pipeline =
        new Pipeline<>(
            run.options().batch(),
            new Pipeline.Operation<>() {
              private int next;

              @Override
              public Future<CrailNode> issue(int slot) throws Exception {
                return run.issueCreate(names.path(next++), CrailNodeType.DATAFILE);
              }

              @Override
              public long complete(CrailNode node, int slot) throws Exception {
                node.syncDir();
                return 0;
              }
            });
    recorder.begin();
    pipeline.run(names.count(), recorder);
    recorder.end();
  }
}

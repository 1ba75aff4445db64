/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNode;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.util.concurrent.Future;

/** Looks up files, chosen at random from many, with several lookups in flight. */
public final class MultiFileLookupAsync extends MultiFileLookup {
  private final int[] indexes;

  /** Creates the workload. */
  public MultiFileLookupAsync(BenchRun run) {
    super(run);
    this.indexes = new int[run.options().batch()];
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    Pipeline<CrailNode> pipeline =
        new Pipeline<>(
            indexes.length,
            new Pipeline.Operation<>() {
              @Override
              public Future<CrailNode> issue(int slot) throws Exception {
                int index = names.nextIndex();
                indexes[slot] = index;
                return run.store().lookup(names.path(index));
              }

              @Override
              public long complete(CrailNode node, int slot) throws BenchException {
                if (node == null) {
                  throw new BenchException(names.path(indexes[slot]) + " is gone");
                }
                return 0;
              }
            });
    recorder.begin();
    pipeline.run(operations, recorder);
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.value;

import io.crail.CrailBuffer;
import io.crail.CrailNode;
import io.crail.CrailResult;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;

/** Gets the values of random keys of a table. */
public final class KeyValueGet extends KeyValues {
  private static final int PREPARED_AT_ONCE = 128;

  private final int[] indexes;
  private CrailBuffer[] buffers;

  /** Creates the workload. */
  public KeyValueGet(BenchRun run) {
    super(run, run.options().path());
    this.indexes = new int[run.options().batch()];
  }

  @Override
  public void prepare() throws Exception {
    ensureTable();
    putMissing();
    buffers = run.newBuffers();
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  /** Puts the values that are missing or have another length. */
  private void putMissing() throws Exception {
    CrailBuffer value = run.newBuffer();
    List<Future<CrailNode>> lookups = new ArrayList<>();
    List<Future<?>> puts = new ArrayList<>();
    for (int from = 0; from < names.count(); from += PREPARED_AT_ONCE) {
      int to = Math.min(names.count(), from + PREPARED_AT_ONCE);
      lookups.clear();
      for (int key = from; key < to; key++) {
        lookups.add(run.store().lookup(names.path(key)));
      }
      puts.clear();
      for (int key = from; key < to; key++) {
        CrailNode node = Pipeline.await(lookups.get(key - from));
        if (node == null || node.getCapacity() != run.options().size()) {
          // All values have the same bytes. Each put needs its own position.
          puts.add(put(names.path(key), value.slice()));
        }
      }
      for (Future<?> put : puts) {
        Pipeline.await(put);
      }
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    Pipeline<CrailResult> pipeline =
        new Pipeline<>(
            buffers.length,
            new Pipeline.Operation<>() {
              @Override
              public Future<CrailResult> issue(int slot) throws Exception {
                indexes[slot] = names.nextIndex();
                return run.store().get(names.path(indexes[slot]), buffers[slot].clear());
              }

              @Override
              public long complete(CrailResult result, int slot) throws BenchException {
                if (result == null || result.getLen() != run.options().size()) {
                  throw new BenchException(
                      names.path(indexes[slot])
                          + (result == null ? " is gone" : " has another length now"));
                }
                return result.getLen();
              }
            });
    recorder.begin();
    pipeline.run(operations, recorder);
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.value;

import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.util.concurrent.Future;

/** Puts values under the keys of a table, one key after the other, again and again. */
public final class KeyValuePut extends KeyValues {
  private int next;

  /** Creates the workload. Each worker has its own table, so no worker replaces another's value. */
  public KeyValuePut(BenchRun run) {
    super(run, run.ownPath());
  }

  @Override
  public void prepare() throws Exception {
    if (run.options().batch() > names.count()) {
      throw new BenchException(
          "-b "
              + run.options().batch()
              + " puts in flight need as many keys; -n is "
              + names.count());
    }
    ensureTable();
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    CrailBuffer[] buffers = run.newBuffers();
    Pipeline<CrailKeyValue> pipeline =
        new Pipeline<>(
            buffers.length,
            new Pipeline.Operation<>() {
              @Override
              public Future<CrailKeyValue> issue(int slot) throws Exception {
                String path = names.path(next);
                next = next + 1 == names.count() ? 0 : next + 1;
                return put(path, buffers[slot].clear());
              }

              @Override
              public long complete(CrailKeyValue value, int slot) {
                return run.options().size();
              }
            });
    recorder.begin();
    pipeline.run(operations, recorder);
    recorder.end();
  }

  @Override
  public void close() throws Exception {
    if (run.worker() > 0) {
      run.deleteIfPresent(run.ownPath(), true);
    }
  }
}

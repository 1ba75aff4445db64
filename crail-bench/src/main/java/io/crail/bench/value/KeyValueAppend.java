/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.value;

import io.crail.Upcoming;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import java.util.concurrent.Future;

/**
 * Appends to one key by compound operations, which may be guarded by an epoch. The namenode keeps
 * so many bytes of a key only, so each fourth list of a worker replaces all bytes.
 */
public final class KeyValueAppend extends KeyValues {
  private static final long EPOCH = 1;

  /** Of so many lists of a worker, one replaces all bytes. */
  public static final int LISTS_OF_A_FILLING = 4;

  private final String key;
  private final CompoundOperation append;
  private final CompoundOperation replace;
  private long issued;

  private KeyValueAppend(BenchRun run, boolean guarded) {
    super(run, run.options().path());
    this.key = BenchRun.childOf(run.options().path(), "appended");
    byte[] bytes = new byte[run.options().size()];
    this.append = list(guarded).append(bytes).build();
    this.replace = list(guarded).writeFull(bytes).build();
  }

  private static CompoundOperation.Builder list(boolean guarded) {
    CompoundOperation.Builder list = CompoundOperation.builder();
    return guarded ? list.requireEpoch(Comparison.AT_MOST, EPOCH) : list;
  }

  /** Without a guard. */
  public static KeyValueAppend plain(BenchRun run) {
    return new KeyValueAppend(run, false);
  }

  /** With a guard in each append. */
  public static KeyValueAppend guarded(BenchRun run) {
    return new KeyValueAppend(run, true);
  }

  @Override
  public void prepare() throws Exception {
    ensureTable();
    CompoundOperation make = CompoundOperation.builder().create().orGoOn().truncate(0).build();
    Pipeline.await(run.store().operate(key, make)).orThrow();
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    Pipeline<CompoundResult> pipeline =
        new Pipeline<>(
            run.options().batch(),
            new Pipeline.Operation<>() {
              @Override
              public Future<CompoundResult> issue(int slot) throws Exception {
                boolean isLast = ++issued % LISTS_OF_A_FILLING == 0;
                return run.store().operate(key, isLast ? replace : append);
              }

              @Override
              public long complete(CompoundResult result, int slot) throws Exception {
                if (result.isSuccess()) {
                  return run.options().size();
                }
                // Others have appended more than usual in between.
                if (result.code(result.failedStep()) != ErrorCode.NOT_KEPT) {
                  throw result.failure();
                }
                Upcoming<CompoundResult> instead = run.store().operate(key, replace);
                Pipeline.await(instead).orThrow();
                return run.options().size();
              }
            });
    recorder.begin();
    pipeline.run(operations, recorder);
    recorder.end();
  }

  @Override
  public void close() throws Exception {
    run.deleteIfPresent(key, false);
  }
}

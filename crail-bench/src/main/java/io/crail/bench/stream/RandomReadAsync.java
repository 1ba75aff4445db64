/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailInputStream;
import io.crail.CrailResult;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.util.SplittableRandom;
import java.util.concurrent.Future;

/** Reads from random positions that are multiples of the size, with several buffers in flight. */
public final class RandomReadAsync extends StreamRead {
  /** Creates the workload. */
  public RandomReadAsync(BenchRun run) {
    super(run);
  }

  @Override
  protected boolean alwaysDirect() {
    return true;
  }

  @Override
  protected void read(CrailBufferedInputStream stream, long operations, Recorder recorder) {
    throw new AssertionError("always direct");
  }

  @Override
  protected void read(CrailInputStream stream, long operations, Recorder recorder)
      throws Exception {
    CrailBuffer[] buffers = run.newBuffers();
    SplittableRandom random = new SplittableRandom(run.options().seed());
    Pipeline.Operation<CrailResult> reading =
        new Pipeline.Operation<>() {
          @Override
          public Future<CrailResult> issue(int slot) throws Exception {
            CrailBuffer buffer = buffers[slot].clear();
            stream.seek(random.nextLong(fileBuffers()) * buffer.capacity());
            return stream.read(buffer);
          }

          @Override
          public long complete(CrailResult result, int slot) throws BenchException {
            return whole(result.getLen());
          }
        };
    new Pipeline<>(buffers.length, reading).run(operations, recorder);
  }
}

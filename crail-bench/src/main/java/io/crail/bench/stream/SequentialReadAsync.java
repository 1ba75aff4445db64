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
import java.util.concurrent.Future;

/** Reads sequentially with several buffers in flight. */
public final class SequentialReadAsync extends StreamRead {
  /** Creates the workload. */
  public SequentialReadAsync(BenchRun run) {
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
    new Pipeline<>(buffers.length, new Reading(stream, buffers)).run(operations, recorder);
  }

  private final class Reading implements Pipeline.Operation<CrailResult> {
    private final CrailInputStream stream;
    private final CrailBuffer[] buffers;
    private long left = fileBuffers();

    Reading(CrailInputStream stream, CrailBuffer[] buffers) {
      this.stream = stream;
      this.buffers = buffers;
    }

    @Override
    public Future<CrailResult> issue(int slot) throws Exception {
      if (left-- == 0) {
        stream.seek(0);
        left = fileBuffers() - 1;
      }
      return stream.read(buffers[slot].clear());
    }

    @Override
    public long complete(CrailResult result, int slot) throws BenchException {
      return whole(result.getLen());
    }
  }
}

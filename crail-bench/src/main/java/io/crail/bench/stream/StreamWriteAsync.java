/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.util.concurrent.Future;

/** Writes with several buffers in flight. */
public final class StreamWriteAsync extends StreamWrite {
  /** Creates the workload. */
  public StreamWriteAsync(BenchRun run) {
    super(run);
  }

  @Override
  protected void write(CrailFile file, long operations, Recorder recorder) throws Exception {
    CrailBuffer[] buffers = run.newBuffers();
    CrailOutputStream stream = file.getDirectOutputStream(operations * run.options().size());
    try {
      Pipeline<CrailResult> pipeline =
          new Pipeline<>(
              buffers.length,
              new Pipeline.Operation<>() {
                @Override
                public Future<CrailResult> issue(int slot) throws Exception {
                  return stream.write(buffers[slot].clear());
                }

                @Override
                public long complete(CrailResult result, int slot) {
                  return result.getLen();
                }
              });
      recorder.begin();
      pipeline.run(operations, recorder);
    } finally {
      stream.close();
    }
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailInputStream;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.nio.ByteBuffer;

/** Reads one buffer after the other. When less than a buffer is left, it starts again. */
public final class SequentialRead extends StreamRead {
  /** Creates the workload. */
  public SequentialRead(BenchRun run) {
    super(run);
  }

  @Override
  protected void read(CrailBufferedInputStream stream, long operations, Recorder recorder)
      throws Exception {
    ByteBuffer memory = run.newBuffer().getByteBuffer();
    long left = fileBuffers();
    long issued = recorder.now();
    for (long i = 0; i < operations; i++) {
      if (left-- == 0) {
        stream.seek(0);
        left = fileBuffers() - 1;
      }
      memory.clear();
      long length = whole(stream.read(memory));
      long completed = recorder.now();
      recorder.operation(issued, completed, length);
      issued = completed;
    }
  }

  @Override
  protected void read(CrailInputStream stream, long operations, Recorder recorder)
      throws Exception {
    CrailBuffer buffer = run.newBuffer();
    long left = fileBuffers();
    long issued = recorder.now();
    for (long i = 0; i < operations; i++) {
      if (left-- == 0) {
        stream.seek(0);
        left = fileBuffers() - 1;
      }
      long length = whole(Pipeline.await(stream.read(buffer.clear())).getLen());
      long completed = recorder.now();
      recorder.operation(issued, completed, length);
      issued = completed;
    }
  }
}

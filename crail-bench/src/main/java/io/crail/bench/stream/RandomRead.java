/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailInputStream;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/** Reads from random positions that are multiples of the size. */
public final class RandomRead extends StreamRead {
  /** Creates the workload. */
  public RandomRead(BenchRun run) {
    super(run);
  }

  @Override
  protected void read(CrailBufferedInputStream stream, long operations, Recorder recorder)
      throws Exception {
    ByteBuffer memory = run.newBuffer().getByteBuffer();
    SplittableRandom random = new SplittableRandom(run.options().seed());
    long issued = recorder.now();
    for (long i = 0; i < operations; i++) {
      stream.seek(random.nextLong(fileBuffers()) * memory.capacity());
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
    SplittableRandom random = new SplittableRandom(run.options().seed());
    long issued = recorder.now();
    for (long i = 0; i < operations; i++) {
      stream.seek(random.nextLong(fileBuffers()) * buffer.capacity());
      long length = whole(Pipeline.await(stream.read(buffer.clear())).getLen());
      long completed = recorder.now();
      recorder.operation(issued, completed, length);
      issued = completed;
    }
  }
}

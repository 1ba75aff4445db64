/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.Memory;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.common.ByteText;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;

/** Writes one array after the other. */
final class HadoopWrite implements Workload {
  private final HadoopTarget target;

  /** Creates the workload. */
  HadoopWrite(HadoopTarget target) {
    this.target = target;
  }

  @Override
  public void prepare() throws Exception {
    BenchOptions<HadoopType> options = target.options();
    long bytes = options.loop() * options.size();
    if (options.touch()) {
      target.notice("touching memory: writing " + ByteText.of(bytes) + " once, not counted");
      target.write(target.ownPath(), bytes);
    }
    if (options.warmUp() > 0) {
      Path warmUp = target.ownPath().suffix(".warmup");
      write(warmUp, options.warmUp(), new Recorder(System::nanoTime));
      target.fileSystem().delete(warmUp, false);
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    write(target.ownPath(), operations, recorder);
  }

  @Override
  public void close() throws Exception {
    if (target.options().worker() > 0) {
      target.fileSystem().delete(target.ownPath(), false);
    }
  }

  /** The run ends with the file's close, when all bytes are placed and visible. */
  private void write(Path file, long operations, Recorder recorder) throws Exception {
    byte[] memory = Memory.heap(target.options().size());
    try (FSDataOutputStream stream = target.replace(file)) {
      long issued = recorder.begin();
      for (long i = 0; i < operations; i++) {
        stream.write(memory, 0, memory.length);
        long completed = recorder.now();
        recorder.operation(issued, completed, memory.length);
        issued = completed;
      }
    }
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;

/** Writes one buffer after the other. */
public class StreamWrite extends FileWrite {
  /** Creates the workload. */
  public StreamWrite(BenchRun run) {
    super(run, run.options().size());
  }

  @Override
  protected void write(CrailFile file, long operations, Recorder recorder) throws Exception {
    long hint = operations * run.options().size();
    CrailBuffer buffer = run.newBuffer();
    if (run.options().buffered()) {
      writeBuffered(file.getBufferedOutputStream(hint), buffer, operations, recorder);
    } else {
      writeDirect(file.getDirectOutputStream(hint), buffer, operations, recorder);
    }
  }

  private void writeBuffered(
      CrailBufferedOutputStream stream, CrailBuffer buffer, long operations, Recorder recorder)
      throws Exception {
    try (stream) {
      long issued = recorder.begin();
      for (long i = 0; i < operations; i++) {
        buffer.clear();
        stream.write(buffer.getByteBuffer());
        long completed = recorder.now();
        recorder.operation(issued, completed, buffer.capacity());
        issued = completed;
      }
    }
    recorder.end();
  }

  private void writeDirect(
      CrailOutputStream stream, CrailBuffer buffer, long operations, Recorder recorder)
      throws Exception {
    try {
      long issued = recorder.begin();
      for (long i = 0; i < operations; i++) {
        buffer.clear();
        long written = Pipeline.await(stream.write(buffer)).getLen();
        long completed = recorder.now();
        recorder.operation(issued, completed, written);
        issued = completed;
      }
    } finally {
      stream.close();
    }
    recorder.end();
  }
}

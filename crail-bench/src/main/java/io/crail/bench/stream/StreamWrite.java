/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.util.concurrent.Future;

/** Writes a new file, one buffer after the other. */
public final class StreamWrite extends FileWrite {
  private final boolean inFlight;

  private StreamWrite(BenchRun run, boolean inFlight) {
    super(run, run.options().size());
    this.inFlight = inFlight;
  }

  /** Writes a buffer when the one before is written. */
  public static StreamWrite sequential(BenchRun run) {
    return new StreamWrite(run, false);
  }

  /** Writes through a direct stream, with several buffers in flight. */
  public static StreamWrite sequentialAsync(BenchRun run) {
    return new StreamWrite(run, true);
  }

  @Override
  protected void write(CrailFile file, long operations, Recorder recorder) throws Exception {
    long hint = operations * run.options().size();
    if (inFlight) {
      writeInFlight(file.getDirectOutputStream(hint), operations, recorder);
    } else if (run.options().buffered()) {
      writeBuffered(file.getBufferedOutputStream(hint), run.newBuffer(), operations, recorder);
    } else {
      writeDirect(file.getDirectOutputStream(hint), run.newBuffer(), operations, recorder);
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

  private void writeInFlight(CrailOutputStream stream, long operations, Recorder recorder)
      throws Exception {
    try {
      CrailBuffer[] buffers = run.newBuffers();
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

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Writes one buffer after the other. */
public class StreamWrite implements Workload {
  /** Options and store. */
  protected final BenchRun run;

  private final String warmUpPath;

  /** Creates the workload. */
  public StreamWrite(BenchRun run) {
    this.run = run;
    this.warmUpPath = run.ownPath() + ".warmup";
  }

  @Override
  public void prepare() throws Exception {
    BenchOptions<?> options = run.options();
    long bytes = options.loop() * options.size();
    if (options.touch()) {
      run.notice("touching memory: writing " + bytes + " bytes once, not counted");
      run.writeFile(run.replaceFile(run.ownPath()), bytes);
    }
    if (options.warmUp() > 0) {
      write(run.replaceFile(warmUpPath), options.warmUp(), new Recorder(System::nanoTime));
      run.deleteIfPresent(warmUpPath, false);
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    write(run.replaceFile(run.ownPath()), operations, recorder);
  }

  @Override
  public void close() throws Exception {
    run.deleteOwnPath();
  }

  /** Writes to a new file. The run ends with the close, when all bytes are placed and visible. */
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

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBufferedInputStream;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import io.crail.common.ByteText;
import java.nio.ByteBuffer;

/**
 * Reads all files of a multi-file as one stream from beginning to end, as often as the options say.
 */
public final class MultiStreamRead extends MultiStream {
  private static final long LEAST_PREPARED_BYTES = 4 << 20;

  /** Creates the workload. */
  public MultiStreamRead(BenchRun run) {
    super(run);
  }

  @Override
  protected long preparedInts() {
    long fileBytes = Math.max(run.options().size() / PREPARED_FILES, LEAST_PREPARED_BYTES);
    return fileBytes / Integer.BYTES;
  }

  @Override
  protected String writeOptions() {
    return "-t write -s " + run.options().size() + " -k 64";
  }

  @Override
  protected void warmUp() throws Exception {
    Recorder unused = new Recorder(System::nanoTime);
    if (run.options().touch()) {
      run.notice("touching memory: reading " + ByteText.of(bytes()) + " once, not counted");
      readAll(run.newTouchBuffer().getByteBuffer(), unused);
    }
    if (run.options().warmUp() > 0) {
      ByteBuffer memory = run.newBuffer().getByteBuffer();
      try (CrailBufferedInputStream stream = open()) {
        long left = run.options().warmUp();
        while (left > 0 && stream.read(memory.clear()) > 0) {
          left--;
        }
      }
    }
  }

  @Override
  public void run(long rounds, Recorder recorder) throws Exception {
    ByteBuffer memory = run.newBuffer().getByteBuffer();
    // Each read fills the buffer, except the last read of a round.
    long reads = (bytes() + memory.capacity() - 1) / memory.capacity();
    recorder.begin(rounds * reads);
    for (long i = 0; i < rounds; i++) {
      readAll(memory, recorder);
    }
    recorder.end();
  }

  private void readAll(ByteBuffer memory, Recorder recorder) throws Exception {
    long sum = 0;
    try (CrailBufferedInputStream stream = open()) {
      long issued = recorder.now();
      for (int length = stream.read(memory.clear()); length > 0; ) {
        sum += length;
        long completed = recorder.now();
        recorder.operation(issued, completed, length);
        issued = completed;
        length = stream.read(memory.clear());
      }
    }
    if (sum != bytes()) {
      throw changed(sum);
    }
  }
}

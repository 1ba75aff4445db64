/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;

/** Writes the ints 0, 1, 2 and so on. The types that check contents expect them. */
public final class IntWrite extends FileWrite {
  /** Creates the workload. */
  public IntWrite(BenchRun run) {
    super(run, Integer.BYTES);
  }

  /** Writes a file of {@code ints} ints and closes it. */
  static void fill(CrailFile file, long ints) throws Exception {
    writeInts(file, ints, new Recorder(System::nanoTime));
  }

  @Override
  protected void write(CrailFile file, long ints, Recorder recorder) throws Exception {
    writeInts(file, ints, recorder);
  }

  private static void writeInts(CrailFile file, long ints, Recorder recorder) throws Exception {
    try (CrailBufferedOutputStream stream = file.getBufferedOutputStream(ints * Integer.BYTES)) {
      long issued = recorder.begin();
      for (long i = 0; i < ints; i++) {
        stream.writeInt((int) i);
        long completed = recorder.now();
        recorder.operation(issued, completed, Integer.BYTES);
        issued = completed;
      }
    }
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Writes the ints 0, 1, 2 and so on. The types that check contents expect them. */
public final class IntWrite implements Workload {
  private final BenchRun run;
  private final String warmUpPath;

  /** Creates the workload. */
  public IntWrite(BenchRun run) {
    this.run = run;
    this.warmUpPath = run.ownPath() + ".warmup";
  }

  /** Writes a file of {@code ints} ints and closes it. */
  static void fill(CrailFile file, long ints) throws Exception {
    write(file, ints, new Recorder(System::nanoTime));
  }

  @Override
  public void prepare() throws Exception {
    if (run.options().touch()) {
      long bytes = run.options().loop() * Integer.BYTES;
      run.notice("touching memory: writing " + bytes + " bytes once, not counted");
      run.writeFile(run.replaceFile(run.ownPath()), bytes);
    }
    if (run.options().warmUp() > 0) {
      fill(run.replaceFile(warmUpPath), run.options().warmUp());
      run.deleteIfPresent(warmUpPath, false);
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    write(run.replaceFile(run.ownPath()), operations, recorder);
  }

  private static void write(CrailFile file, long ints, Recorder recorder) throws Exception {
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

  @Override
  public void close() throws Exception {
    run.deleteOwnPath();
  }
}

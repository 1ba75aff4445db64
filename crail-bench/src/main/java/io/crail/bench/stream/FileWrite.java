/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailFile;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import io.crail.common.ByteText;
import java.util.ArrayList;
import java.util.List;

/** The common part of the types that write a file of their own. */
abstract class FileWrite implements Workload {
  /** Options and store. */
  protected final BenchRun run;

  private final int operationBytes;
  private final String warmUpPath;

  /** Files that this workload has made. Only these are discarded, not what an earlier run left. */
  private final List<String> made = new ArrayList<>();

  /**
   * Creates the workload.
   *
   * @param operationBytes what an operation writes
   */
  FileWrite(BenchRun run, int operationBytes) {
    this.run = run;
    this.operationBytes = operationBytes;
    this.warmUpPath = run.ownPath() + ".warmup";
  }

  @Override
  public final void prepare() throws Exception {
    BenchOptions<?> options = run.options();
    long bytes = options.loop() * operationBytes;
    // Also the sizes that are measured later have to fit.
    long largest = options.type().usesSize() ? options.largestSize() : operationBytes;
    run.checkFits(options.loop() * largest, options.touch() ? options.warmUp() * largest : 0);
    if (options.touch()) {
      run.notice("touching memory: writing " + ByteText.of(bytes) + " once, not counted");
      run.writeFile(make(run.ownPath()), bytes);
    }
    if (options.warmUp() > 0) {
      write(make(warmUpPath), options.warmUp(), new Recorder(System::nanoTime));
      run.deleteIfPresent(warmUpPath, false);
    }
  }

  @Override
  public final void run(long operations, Recorder recorder) throws Exception {
    write(make(run.ownPath()), operations, recorder);
  }

  private CrailFile make(String path) throws Exception {
    CrailFile file = run.replaceFile(path);
    made.add(path);
    return file;
  }

  /** Writes to a new file. The run ends with the close, when all bytes are placed and visible. */
  protected abstract void write(CrailFile file, long operations, Recorder recorder)
      throws Exception;

  @Override
  public final void discard() throws Exception {
    for (String path : made) {
      run.deleteIfPresent(path, false);
    }
  }

  @Override
  public final void close() throws Exception {
    run.deleteOwnPath();
  }
}

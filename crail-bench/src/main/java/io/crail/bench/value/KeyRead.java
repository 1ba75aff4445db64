/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.value;

import io.crail.CrailBuffer;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Looks up a small file, opens it, reads it and closes it. */
public final class KeyRead implements Workload {
  private final BenchRun run;

  /** Creates the workload. */
  public KeyRead(BenchRun run) {
    this.run = run;
  }

  @Override
  public void prepare() throws Exception {
    run.openForReading(run.options().size());
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    CrailBuffer buffer = run.newBuffer();
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      long length = read(buffer);
      long completed = recorder.now();
      recorder.operation(issued, completed, length);
      issued = completed;
    }
    recorder.end();
  }

  private long read(CrailBuffer buffer) throws Exception {
    CrailNode node = run.lookup(run.options().path());
    if (node == null) {
      throw new BenchException(run.options().path() + " is gone");
    }
    CrailInputStream stream = BenchRun.fileOf(node).getDirectInputStream(buffer.capacity());
    try {
      return Pipeline.await(stream.read(buffer.clear())).getLen();
    } finally {
      stream.close();
    }
  }
}

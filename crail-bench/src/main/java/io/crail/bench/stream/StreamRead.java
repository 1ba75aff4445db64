/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import io.crail.bench.run.Preparation;
import io.crail.common.ByteText;

/** The common part of the types that read one file through one stream. */
abstract class StreamRead implements Workload {
  /** Options and store. */
  protected final BenchRun run;

  private CrailFile file;

  /** Creates the workload. */
  StreamRead(BenchRun run) {
    this.run = run;
  }

  @Override
  public final void prepare() throws Exception {
    BenchOptions<?> options = run.options();
    file = run.openForReading(options.loop() * options.size());
    if (options.touch()) {
      long buffers = file.getCapacity() / options.size();
      long bytes = Math.min(buffers, options.loop()) * options.size();
      run.notice("touching memory: reading " + ByteText.of(bytes) + " once, not counted");
      touch(bytes);
    }
    if (options.warmUp() > 0) {
      run(options.warmUp(), new Recorder(System::nanoTime));
    }
  }

  /** Reads all bytes once, with large buffers, so that this is quick for any operation size. */
  private void touch(long bytes) throws Exception {
    CrailInputStream stream = file.getDirectInputStream(bytes);
    CrailBuffer buffer = run.newTouchBuffer();
    try (Preparation preparation = run.preparation("reading", bytes)) {
      while (stream.position() < bytes) {
        long length = Pipeline.await(stream.read(buffer.clear())).getLen();
        if (length <= 0) {
          throw new BenchException(run.options().path() + " became shorter");
        }
        preparation.moved(length);
      }
    } finally {
      stream.close();
    }
  }

  @Override
  public final void run(long operations, Recorder recorder) throws Exception {
    long hint = Math.min(file.getCapacity(), operations * run.options().size());
    if (run.options().buffered() && !alwaysDirect()) {
      try (CrailBufferedInputStream stream = file.getBufferedInputStream(hint)) {
        recorder.begin();
        read(stream, operations, recorder);
        recorder.end();
      }
    } else {
      CrailInputStream stream = file.getDirectInputStream(hint);
      try {
        recorder.begin();
        read(stream, operations, recorder);
        recorder.end();
      } finally {
        stream.close();
      }
    }
  }

  /** How many buffers of the operation's size the file fills. */
  protected final long fileBuffers() {
    return file.getCapacity() / run.options().size();
  }

  /** Checks that an operation has read all its bytes. */
  protected final long whole(long length) throws BenchException {
    if (length != run.options().size()) {
      throw new BenchException(
          run.options().path()
              + " gave "
              + length
              + " of "
              + run.options().size()
              + " bytes; has another client changed it?");
    }
    return length;
  }

  /** Whether the type ignores {@code -m}. */
  protected boolean alwaysDirect() {
    return false;
  }

  /** Reads through a buffered stream. */
  protected abstract void read(CrailBufferedInputStream stream, long operations, Recorder recorder)
      throws Exception;

  /** Reads through a direct stream. */
  protected abstract void read(CrailInputStream stream, long operations, Recorder recorder)
      throws Exception;
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailAttributes;
import io.crail.CrailBuffer;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Creates a file and writes to it through its early handle, before the create is answered. */
public final class EarlyWrite implements Workload {
  private final BenchRun run;
  private final String warmUpPath;

  /** Creates the workload. */
  public EarlyWrite(BenchRun run) {
    this.run = run;
    this.warmUpPath = run.ownPath() + ".warmup";
  }

  @Override
  public void prepare() throws Exception {
    CrailNode old = run.lookup(run.ownPath());
    if (old != null && old.getType() != CrailNodeType.DATAFILE) {
      throw run.wrongType(old, "a file");
    }
    if (run.options().warmUp() > 0) {
      write(warmUpPath, run.options().warmUp(), new Recorder(System::nanoTime));
      verify(warmUpPath);
      run.deleteIfPresent(warmUpPath, false);
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    write(run.ownPath(), operations, recorder);
  }

  private void write(String path, long operations, Recorder recorder) throws Exception {
    CrailBuffer buffer = run.newBuffer();
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      write(createEarly(path), buffer);
      long completed = recorder.now();
      recorder.operation(issued, completed, buffer.capacity());
      issued = completed;
    }
    recorder.end();
  }

  @Override
  public void verify() throws Exception {
    verify(run.ownPath());
  }

  private void verify(String path) throws Exception {
    CrailNode written = run.lookup(path);
    FileLookup.requireFound(path, written);
    if (written.getCapacity() != run.options().size()) {
      throw new BenchException(
          path
              + " has "
              + written.getCapacity()
              + " bytes, and "
              + run.options().size()
              + " were written; has another client changed it?");
    }
  }

  private CrailFile createEarly(String path) throws Exception {
    BenchOptions<?> options = run.options();
    return run.store()
        .create(
            path,
            CrailNodeType.DATAFILE,
            CrailStorageClass.get(options.storageClass()),
            CrailLocationClass.get(options.locationClass()),
            options.enumerable(),
            true,
            CrailAttributes.FILE_PERMISSIONS)
        .early()
        .asFile();
  }

  private void write(CrailFile file, CrailBuffer buffer) throws Exception {
    buffer.clear();
    if (run.options().buffered()) {
      try (CrailBufferedOutputStream stream = file.getBufferedOutputStream(buffer.capacity())) {
        stream.write(buffer.getByteBuffer());
      }
    } else {
      CrailOutputStream stream = file.getDirectOutputStream(buffer.capacity());
      try {
        Pipeline.await(stream.write(buffer));
      } finally {
        stream.close();
      }
    }
  }

  @Override
  public void close() throws Exception {
    run.deleteOwnPath();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNodeType;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Creates files, one after the other, in a new directory below {@code -f}. */
public class CreateFiles implements Workload {
  /** Options and store. */
  protected final BenchRun run;

  private final String directory;
  private boolean parentCreated;

  /** Creates the workload. */
  public CreateFiles(BenchRun run) {
    this.run = run;
    this.directory = run.uniquePath();
  }

  @Override
  public final void prepare() throws Exception {
    parentCreated = run.ensureDirectory(run.options().path());
    run.create(directory, CrailNodeType.DIRECTORY).syncDir();
    long warmUp = run.options().warmUp();
    if (warmUp > 0) {
      String warmUpDirectory = directory + ".warmup";
      try {
        run.create(warmUpDirectory, CrailNodeType.DIRECTORY).syncDir();
        create(names(warmUpDirectory, "-w", warmUp), new Recorder(System::nanoTime));
      } finally {
        run.deleteIfPresent(warmUpDirectory, true);
      }
    }
  }

  @Override
  public final void run(long operations, Recorder recorder) throws Exception {
    create(names(directory, "-k", operations), recorder);
  }

  private RandomNames names(String in, String option, long count) throws BenchException {
    if (count > RandomNames.MAX_COUNT) {
      throw new BenchException(
          option
              + " "
              + count
              + ": "
              + run.options().type().label()
              + " takes at most "
              + RandomNames.MAX_COUNT);
    }
    return new RandomNames(in, (int) count, 0);
  }

  /** Creates a file for each name. */
  protected void create(RandomNames names, Recorder recorder) throws Exception {
    long issued = recorder.begin();
    for (int i = 0; i < names.count(); i++) {
      run.create(names.path(i), CrailNodeType.DATAFILE).syncDir();
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  @Override
  public final void close() throws Exception {
    run.deleteIfPresent(directory, true);
    if (parentCreated) {
      run.deleteIfEmpty(run.options().path());
    }
  }
}

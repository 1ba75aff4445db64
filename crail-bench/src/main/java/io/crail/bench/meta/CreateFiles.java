/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import java.util.concurrent.Future;

/** Creates files in a new directory below {@code -f}. */
public final class CreateFiles implements Workload {
  private final BenchRun run;
  private final boolean inFlight;
  private final String directory;
  private boolean parentCreated;

  private CreateFiles(BenchRun run, boolean inFlight) {
    this.run = run;
    this.inFlight = inFlight;
    this.directory = run.uniquePath();
  }

  /** Creates one file after the other. */
  public static CreateFiles sequential(BenchRun run) {
    return new CreateFiles(run, false);
  }

  /** Creates files with several creates in flight. */
  public static CreateFiles sequentialAsync(BenchRun run) {
    return new CreateFiles(run, true);
  }

  @Override
  public void prepare() throws Exception {
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
  public void run(long operations, Recorder recorder) throws Exception {
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
  private void create(RandomNames names, Recorder recorder) throws Exception {
    long issued = recorder.begin();
    if (inFlight) {
      pipeline(names).run(names.count(), recorder);
      recorder.end();
      return;
    }
    for (int i = 0; i < names.count(); i++) {
      run.create(names.path(i), CrailNodeType.DATAFILE).syncDir();
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  private Pipeline<CrailNode> pipeline(RandomNames names) {
    return new Pipeline<>(
        run.options().batch(),
        new Pipeline.Operation<>() {
          private int next;

          @Override
          public Future<CrailNode> issue(int slot) throws Exception {
            return run.issueCreate(names.path(next++), CrailNodeType.DATAFILE);
          }

          @Override
          public long complete(CrailNode node, int slot) throws Exception {
            node.syncDir();
            return 0;
          }
        });
  }

  @Override
  public void close() throws Exception {
    run.deleteIfPresent(directory, true);
    if (parentCreated) {
      run.deleteIfEmpty(run.options().path());
    }
  }
}

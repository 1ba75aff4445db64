/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.CrailNodeType;

/** Creates files, one after the other, in a directory of their own below {@code -f}. */
final class CreateFiles implements Workload {
  private final BenchRun run;
  private final String directory;
  private boolean parentCreated;

  /** Creates the workload. */
  CreateFiles(BenchRun run) {
    this.run = run;
    String parent = run.options().path();
    this.directory =
        (parent.endsWith("/") ? parent : parent + "/") + "iobench-" + System.nanoTime();
  }

  @Override
  public void prepare() throws Exception {
    parentCreated = run.ensureDirectory(run.options().path());
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    if (operations > Integer.MAX_VALUE) {
      throw new BenchException("-k " + operations + ": createFile takes at most 2147483647");
    }
    run.deleteIfPresent(directory, true);
    run.create(directory, CrailNodeType.DIRECTORY).syncDir();
    RandomNames names = new RandomNames(directory, (int) operations, 0);
    long issued = recorder.begin();
    for (int i = 0; i < operations; i++) {
      run.create(names.path(i), CrailNodeType.DATAFILE).syncDir();
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  @Override
  public void close() throws Exception {
    run.deleteIfPresent(directory, true);
    if (parentCreated) {
      run.deleteIfPresent(run.options().path(), false);
    }
  }
}

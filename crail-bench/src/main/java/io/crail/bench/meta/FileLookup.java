/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNode;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import java.util.concurrent.Future;

/** Looks up one file, or files that are chosen at random from many. */
public final class FileLookup implements Workload {
  private final BenchRun run;
  private final String path;

  /** Null for one file. */
  private final RandomNames names;

  /** The lookups in flight; null for one at a time. */
  private final String[] paths;

  private FileLookup(BenchRun run, boolean ofMany, boolean inFlight) {
    BenchOptions<?> options = run.options();
    this.run = run;
    this.path = options.path();
    this.names = ofMany ? new RandomNames(path, options.names(), options.seed()) : null;
    this.paths = inFlight ? new String[options.batch()] : null;
  }

  /** Looks up one file, one lookup at a time. */
  public static FileLookup ofOne(BenchRun run) {
    return new FileLookup(run, false, false);
  }

  /** Looks up one file, with several lookups in flight. */
  public static FileLookup ofOneAsync(BenchRun run) {
    return new FileLookup(run, false, true);
  }

  /** Looks up files of many, one lookup at a time. */
  public static FileLookup ofMany(BenchRun run) {
    return new FileLookup(run, true, false);
  }

  /** Looks up files of many, with several lookups in flight. */
  public static FileLookup ofManyAsync(BenchRun run) {
    return new FileLookup(run, true, true);
  }

  @Override
  public void prepare() throws Exception {
    if (names == null) {
      run.existing();
    } else {
      new ManyFiles(run, names).ensure();
    }
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  private String next() {
    return names == null ? path : names.next();
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    if (paths != null) {
      Pipeline<CrailNode> pipeline = new Pipeline<>(paths.length, new InFlight());
      recorder.begin();
      pipeline.run(operations, recorder);
      recorder.end();
      return;
    }
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      String wanted = next();
      requireFound(wanted, run.lookup(wanted));
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  /** Checks that a lookup has found its node. */
  static void requireFound(String path, CrailNode node) throws BenchException {
    if (node == null) {
      throw new BenchException(path + " is gone");
    }
  }

  private final class InFlight implements Pipeline.Operation<CrailNode> {
    @Override
    public Future<CrailNode> issue(int slot) throws Exception {
      paths[slot] = next();
      return run.store().lookup(paths[slot]);
    }

    @Override
    public long complete(CrailNode node, int slot) throws BenchException {
      requireFound(paths[slot], node);
      return 0;
    }
  }
}

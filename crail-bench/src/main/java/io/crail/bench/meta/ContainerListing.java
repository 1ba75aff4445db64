/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailContainer;
import io.crail.CrailNode;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import java.util.Iterator;

/** Lists a directory, multi-file or table: names only, or names with the status of each entry. */
public final class ContainerListing implements Workload {
  /** The most files that are created for a listing on an embedded cluster. */
  private static final int MAX_PREPARED = 10_000;

  private final BenchRun run;
  private final boolean browse;

  /** Creates the workload. */
  private ContainerListing(BenchRun run, boolean browse) {
    this.run = run;
    this.browse = browse;
  }

  /** Lists names. */
  public static ContainerListing names(BenchRun run) {
    return new ContainerListing(run, false);
  }

  /** Lists entries with type and size. Prints them before the figures. */
  public static ContainerListing entries(BenchRun run) {
    return new ContainerListing(run, true);
  }

  @Override
  public void prepare() throws Exception {
    String path = run.options().path();
    if (run.lookup(path) == null) {
      int count = Math.min(run.options().names(), MAX_PREPARED);
      if (!run.embedded()) {
        throw run.missing(path, "-t getMultiFile -n " + count + " -f " + path);
      }
      new ManyFiles(run, new RandomNames(path, count, 0)).ensure();
    }
    if (run.worker() == 0) {
      show();
    }
    if (run.options().warmUp() > 0) {
      list(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  private void show() throws Exception {
    CrailContainer container = container();
    if (browse) {
      run.print("node type is " + container.getType());
      for (Iterator<CrailNode> entries = container.listStatus(); entries.hasNext(); ) {
        CrailNode entry = entries.next();
        run.print(entry.getPath() + " " + entry.getType() + " " + entry.getCapacity());
      }
    } else {
      run.print("entries " + enumerate(container));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    // Apache Crail takes the number of repetitions from -b, all other types take it from -k: both
    // work.
    list(operations * run.options().batch(), recorder);
  }

  private void list(long count, Recorder recorder) throws Exception {
    long issued = recorder.begin(count);
    for (long i = 0; i < count; i++) {
      if (browse) {
        browse(container());
      } else {
        enumerate(container());
      }
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }

  private CrailContainer container() throws Exception {
    String path = run.options().path();
    CrailNode node = run.lookup(path);
    FileLookup.requireFound(path, node);
    if (!node.getType().isContainer()) {
      throw run.wrongType(node, "a directory");
    }
    return node.asContainer();
  }

  private static long enumerate(CrailContainer container) throws Exception {
    long count = 0;
    for (Iterator<String> names = container.listEntries(); names.hasNext(); names.next()) {
      count++;
    }
    return count;
  }

  private static void browse(CrailContainer container) throws Exception {
    for (Iterator<CrailNode> entries = container.listStatus(); entries.hasNext(); ) {
      entries.next();
    }
  }
}

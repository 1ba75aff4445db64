/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import io.crail.common.error.NodeExistsException;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Queue;
import java.util.concurrent.Future;

/** The many empty files that some types look up or list. Used by one thread. */
final class ManyFiles {
  private static final int IN_FLIGHT = 256;

  private final BenchRun run;
  private final RandomNames names;

  /** Creates no file yet. */
  ManyFiles(BenchRun run, RandomNames names) {
    this.run = run;
    this.names = names;
  }

  /** Creates the directory and the missing files. Another client may do the same. */
  void ensure() throws Exception {
    String directory = run.options().path();
    run.ensureDirectory(directory);
    BitSet missing = findMissing();
    if (!missing.isEmpty()) {
      run.notice("creating " + missing.cardinality() + " missing files in " + directory);
      createAll(missing);
    }
  }

  private BitSet findMissing() throws Exception {
    BitSet missing = new BitSet(names.count());
    int[] slots = new int[IN_FLIGHT];
    Pipeline<CrailNode> pipeline =
        new Pipeline<>(
            IN_FLIGHT,
            new Pipeline.Operation<>() {
              private int next;

              @Override
              public Future<CrailNode> issue(int slot) throws Exception {
                slots[slot] = next;
                return run.store().lookup(names.path(next++));
              }

              @Override
              public long complete(CrailNode node, int slot) {
                missing.set(slots[slot], node == null);
                return 0;
              }
            });
    pipeline.run(names.count(), new Recorder(System::nanoTime));
    return missing;
  }

  private void createAll(BitSet missing) throws Exception {
    Queue<Future<CrailNode>> created = new ArrayDeque<>(IN_FLIGHT);
    for (int i = missing.nextSetBit(0); i >= 0; i = missing.nextSetBit(i + 1)) {
      if (created.size() == IN_FLIGHT) {
        await(created.remove());
      }
      created.add(run.issueCreate(names.path(i), CrailNodeType.DATAFILE));
    }
    while (!created.isEmpty()) {
      await(created.remove());
    }
  }

  private static void await(Future<CrailNode> created) throws Exception {
    try {
      Pipeline.await(created).syncDir();
    } catch (NodeExistsException e) {
      // Another client has created it first.
    }
  }
}

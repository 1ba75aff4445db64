/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import java.util.BitSet;
import java.util.concurrent.Future;

/** Looks random ones of many files up, with several lookups in flight. */
final class MultiFileLookupAsync implements Workload {
  private static final int PREPARE_BATCH = 256;

  private final BenchRun run;
  private final RandomNames names;
  private final int[] indexes;

  /** Creates the workload. */
  MultiFileLookupAsync(BenchRun run) {
    this.run = run;
    BenchOptions<BenchType> options = run.options();
    this.names = new RandomNames(options.path(), options.names(), options.seed());
    this.indexes = new int[options.batch()];
  }

  @Override
  public void prepare() throws Exception {
    run.ensureDirectory(run.options().path());
    BitSet missing = findMissing();
    if (!missing.isEmpty()) {
      run.notice("creating " + missing.cardinality() + " missing files in " + run.options().path());
      createAll(missing);
    }
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  private BitSet findMissing() throws Exception {
    BitSet missing = new BitSet(names.count());
    int[] slots = new int[PREPARE_BATCH];
    Pipeline<CrailNode> pipeline =
        new Pipeline<>(
            PREPARE_BATCH,
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
    CrailStorageClass storageClass = CrailStorageClass.get(run.options().storageClass());
    CrailLocationClass locationClass = CrailLocationClass.get(run.options().locationClass());
    boolean enumerable = run.options().enumerable();
    Pipeline<CrailNode> pipeline =
        new Pipeline<>(
            PREPARE_BATCH,
            new Pipeline.Operation<>() {
              private int next = missing.nextSetBit(0);

              @Override
              public Future<CrailNode> issue(int slot) throws Exception {
                String path = names.path(next);
                next = missing.nextSetBit(next + 1);
                return run.store()
                    .create(path, CrailNodeType.DATAFILE, storageClass, locationClass, enumerable);
              }

              @Override
              public long complete(CrailNode node, int slot) throws Exception {
                node.syncDir();
                return 0;
              }
            });
    pipeline.run(missing.cardinality(), new Recorder(System::nanoTime));
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    Pipeline<CrailNode> pipeline =
        new Pipeline<>(
            indexes.length,
            new Pipeline.Operation<>() {
              @Override
              public Future<CrailNode> issue(int slot) throws Exception {
                int index = names.nextIndex();
                indexes[slot] = index;
                return run.store().lookup(names.path(index));
              }

              @Override
              public long complete(CrailNode node, int slot) throws BenchException {
                if (node == null) {
                  throw new BenchException(names.path(indexes[slot]) + " is gone");
                }
                return 0;
              }
            });
    recorder.begin();
    pipeline.run(operations, recorder);
    recorder.end();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Appends by lists of steps, with and without a guard: what does the guard cost? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class AppendBenchmark {
  private static final int APPEND = 4096;
  private static final int APPENDS = 15;
  private static final int KEYS = 8;
  private static final String KEY = "/table/key-";

  /** Whether a guard compares the epoch. */
  @Param({"false", "true"})
  public boolean guarded;

  private final List<Upcoming<CompoundResult>> pending = new ArrayList<>(APPENDS * KEYS);
  private CompoundOperation first;
  private CompoundOperation next;
  private EmbeddedCrail cluster;
  private CrailStore store;

  /** Starts a cluster with a few keys. */
  @Setup
  public void open() throws Exception {
    cluster = EmbeddedCrail.builder().start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    store
        .create(
            "/table",
            CrailNodeType.TABLE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
    CompoundOperation make = CompoundOperation.builder().create().raiseEpoch(1).build();
    for (int i = 0; i < KEYS; i++) {
      store.operate(KEY + i, make).get().orThrow();
    }
    first = append(CompoundOperation.builder().truncate(0));
    next = append(CompoundOperation.builder());
  }

  private CompoundOperation append(CompoundOperation.Builder steps) {
    if (guarded) {
      steps.requireEpoch(Comparison.EQUAL, 1);
    }
    return steps.append(new byte[APPEND]).build();
  }

  /** Closes everything. */
  @TearDown
  public void close() throws Exception {
    store.close();
    cluster.close();
  }

  /** Many appends: all are issued, then all are awaited. */
  @Benchmark
  @OperationsPerInvocation(APPENDS * KEYS)
  public long many() throws Exception {
    for (int i = 0; i < APPENDS; i++) {
      for (int key = 0; key < KEYS; key++) {
        pending.add(store.operate(KEY + key, i == 0 ? first : next));
      }
    }
    long bytes = 0;
    for (Upcoming<CompoundResult> append : pending) {
      bytes += append.get().orThrow().size();
    }
    pending.clear();
    return bytes;
  }

  /** One append at a time. */
  @Benchmark
  @OperationsPerInvocation(APPENDS)
  public long one() throws Exception {
    long bytes = 0;
    for (int i = 0; i < APPENDS; i++) {
      bytes += store.operate(KEY + 0, i == 0 ? first : next).get().orThrow().size();
    }
    return bytes;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.jmh;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Lookups through the public API. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class StoreBenchmark {
  private static final int IN_FLIGHT = 128;
  private static final String PATH = "/looked-up";

  private final List<Upcoming<CrailNode>> pending = new ArrayList<>(IN_FLIGHT);
  private EmbeddedCrail cluster;
  private CrailStore store;

  /** Starts a cluster with one file. */
  @Setup
  public void open() throws Exception {
    cluster = EmbeddedCrail.builder().start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    store
        .create(
            PATH,
            CrailNodeType.DATAFILE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get()
        .asFile()
        .getDirectOutputStream(0)
        .close();
  }

  /** Closes. */
  @TearDown
  public void close() throws Exception {
    store.close();
    cluster.close();
  }

  /** One lookup at a time. */
  @Benchmark
  public CrailNode lookup() throws Exception {
    return store.lookup(PATH).get();
  }

  /** As many lookups, all issued, then all waited for. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public CrailNode lookupMany() throws Exception {
    for (int i = 0; i < IN_FLIGHT; i++) {
      pending.add(store.lookup(PATH));
    }
    CrailNode last = null;
    for (Upcoming<CrailNode> lookup : pending) {
      last = lookup.get();
    }
    pending.clear();
    return last;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.memory.OffHeapBuffer;
import io.crail.protocol.node.Lookup;
import java.nio.ByteBuffer;
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

/** Lookups, small values and files, through the public API. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class StoreBenchmark {
  private static final int IN_FLIGHT = 128;
  private static final int VALUE_BYTES = 100;
  private static final String PATH = "/looked-up";
  private static final String LARGE = "/of-blocks";
  private static final String KEY = "/table/key";

  private final List<Upcoming<CrailNode>> pending = new ArrayList<>(IN_FLIGHT);
  private EmbeddedCrail cluster;
  private CrailStore store;
  private CrailBuffer value;
  // All names have the same length, so that each costs the same.
  private long created = 1_000_000;

  /** Starts a cluster with one file, a small value, and a directory to create files in. */
  @Setup
  public void open() throws Exception {
    cluster = EmbeddedCrail.builder().start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    value = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(VALUE_BYTES));
    create(PATH, CrailNodeType.DATAFILE).asFile().getDirectOutputStream(0).close();
    writeLarge();
    create("/table", CrailNodeType.TABLE).syncDir();
    create("/created", CrailNodeType.DIRECTORY).syncDir();
    put();
  }

  /** Writes a file whose extents are as many as a lookup brings. */
  private void writeLarge() throws Exception {
    int block = (int) store.getBlockSize();
    CrailBuffer bytes = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(Lookup.MAX_EXTENTS * block));
    CrailOutputStream output =
        create(LARGE, CrailNodeType.DATAFILE).asFile().getDirectOutputStream(bytes.remaining());
    output.write(bytes).get();
    output.close();
  }

  private CrailNode create(String path, CrailNodeType type) throws Exception {
    return store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
  }

  /** Closes everything. */
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

  /** Many lookups: all are issued, then all are awaited. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public CrailNode lookupMany() throws Exception {
    return lookupMany(PATH);
  }

  /** The same, for a file with four extents. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public CrailNode lookupManyLarge() throws Exception {
    return lookupMany(LARGE);
  }

  private CrailNode lookupMany(String path) throws Exception {
    for (int i = 0; i < IN_FLIGHT; i++) {
      pending.add(store.lookup(path));
    }
    CrailNode last = null;
    for (Upcoming<CrailNode> lookup : pending) {
      last = lookup.get();
    }
    pending.clear();
    return last;
  }

  /** Replaces a small value. */
  @Benchmark
  public CrailKeyValue put() throws Exception {
    return store.put(KEY, value.clear()).get();
  }

  /** Gets a small value. */
  @Benchmark
  public CrailResult get() throws Exception {
    return store.get(KEY, value.clear()).get();
  }

  /** Creates a file with a new name. */
  @Benchmark
  public CrailNode create() throws Exception {
    return create("/created/" + created++, CrailNodeType.DATAFILE);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.LeanLookup;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.node.Lookup;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
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

/**
 * Lookups at a namenode by a client that allocates nothing. So only the namenode and the engine
 * count.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class NamenodeLookupBenchmark {
  private static final int IN_FLIGHT = 128;
  private static final int CREATE_BATCH = 1000;
  private static final long TIMEOUT_NANOS = 10_000_000_000L;
  private static final long SEED = 42;

  /** Files in the directory. */
  @Param({"100000"})
  public int files;

  private final Call[] calls = new Call[IN_FLIGHT];
  private Utf8[] paths;
  private SplittableRandom random;
  private EmbeddedCrail cluster;
  private Transport transport;
  private ClientLoop loop;
  private NameNodeClient client;

  /** Starts a cluster, creates the files and connects. */
  @Setup
  public void open() throws Exception {
    random = new SplittableRandom(SEED);
    cluster = EmbeddedCrail.builder().start();
    Configuration configuration = cluster.configuration();
    createFiles(configuration);
    transport = TransportProvider.open(configuration);
    loop = transport.newClientLoop("bench");
    client =
        new NameNodeClient(
            loop,
            configuration.get(ClusterKeys.NAMENODE_ADDRESS),
            new NameNodeClient.Identity(
                Hello.ROLE_CLIENT, SEED, "bench", configuration.get(ClusterKeys.CLUSTER_NAME)),
            RpcPeer.Options.defaults(),
            TIMEOUT_NANOS);
    for (int i = 0; i < calls.length; i++) {
      calls[i] = new Call();
    }
    manyInFlight();
  }

  private void createFiles(Configuration configuration) throws Exception {
    paths = new Utf8[files];
    CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration));
    try {
      create(store, "/names", CrailNodeType.DIRECTORY).get();
      List<Upcoming<CrailNode>> batch = new ArrayList<>();
      for (int i = 0; i < files; i++) {
        String path = String.format(Locale.ROOT, "/names/f%08d", i);
        paths[i] = Utf8.of(path);
        batch.add(create(store, path, CrailNodeType.DATAFILE));
        if (batch.size() == CREATE_BATCH || i == files - 1) {
          for (Upcoming<CrailNode> created : batch) {
            created.get();
          }
          batch.clear();
        }
      }
    } finally {
      store.close();
    }
  }

  private static Upcoming<CrailNode> create(CrailStore store, String path, CrailNodeType type)
      throws Exception {
    return store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true);
  }

  /** Closes everything. */
  @TearDown
  public void close() throws Exception {
    client.close();
    loop.close();
    transport.close();
    cluster.close();
  }

  /** One lookup of a random name at a time. */
  @Benchmark
  public long oneInFlight() throws InterruptedException {
    Call call = calls[0];
    call.use(client.peer(0), paths[random.nextInt(files)]);
    call.submit();
    loop.await(call, call.deadlineNanos());
    return call.node();
  }

  /** Many lookups of random names: all are submitted, then all are awaited. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public long manyInFlight() throws InterruptedException {
    for (Call call : calls) {
      call.use(client.peer(0), paths[random.nextInt(files)]);
      call.submit();
    }
    long sum = 0;
    for (Call call : calls) {
      loop.await(call, call.deadlineNanos());
      sum += call.node();
    }
    return sum;
  }

  /** A lookup that reads the node's id and makes no objects. */
  private static final class Call extends LeanLookup {
    private long node;

    void use(RpcPeer target, Utf8 newPath) {
      prepare(target, newPath, target.loop().clock().nanoTime() + TIMEOUT_NANOS);
    }

    long node() {
      if (isFailed()) {
        throw new IllegalStateException(failure());
      }
      return node;
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) {
      node = in.getLong(offset + Lookup.Response.NODE);
    }
  }
}

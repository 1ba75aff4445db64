/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.client.ClientKeys;
import io.crail.client.CoreStore;
import io.crail.client.datanode.Endpoints;
import io.crail.client.loop.LoopContext;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.loop.LoopTask;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageKeys;
import io.crail.storage.Transfer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Reads a few bytes of each datanode, as a client of this host does that reaches it over the
 * network, and takes the time. No lease is taken: the bytes are dropped, and a datanode that
 * refuses to read space that has another owner has answered. Used by one thread.
 */
public final class LatencyQuery {
  private static final int ROUNDS = 9;
  private static final long PAUSE_MILLIS = 10;
  private static final long MOST_NANOS = 2_000_000_000L;

  /** The deadline of all rounds together, since each datanode may take long. */
  private static final long ROUNDS_NANOS = 10_000_000_000L;

  private final LoopContext connections;
  private final long patienceNanos;
  private final ByteBuffer memory = ByteBuffer.allocateDirect(Extent.MIN_LENGTH);
  private final List<Probe> probes = new ArrayList<>();
  private final Map<UUID, String> problems = new HashMap<>();

  private LatencyQuery(LoopContext connections, long patienceNanos) {
    this.connections = connections;
    this.patienceNanos = patienceNanos;
  }

  /** The times of all datanodes that a namenode hears of. */
  public static List<DatanodeLatency> of(Configuration configuration, ClusterReport cluster)
      throws Exception {
    Configuration remote =
        configuration.toBuilder()
            .set(StorageKeys.LOCAL_MAP.name(), "false", "the query of latencies")
            .build();
    try (CoreStore store = CoreStore.open(remote)) {
      long patience = Math.min(remote.get(ClientKeys.DATA_TIMEOUT).toNanos(), MOST_NANOS);
      return new LatencyQuery(store.connections(), patience).ask(cluster);
    }
  }

  /** A datanode, by its id at a namenode that hears of it. */
  private final class Probe extends Completion implements LoopTask, Endpoints.Waiter {
    private final UUID uuid;
    private final int id;
    private final List<Long> micros = new ArrayList<>();
    private Transfer read;

    Probe(UUID uuid, int id) {
      this.uuid = uuid;
      this.id = id;
    }

    // The way to it.

    @Override
    public void runInLoop() {
      connections.endpoints().resolve(id, this);
    }

    @Override
    public void endpointReady() {
      succeed();
    }

    @Override
    public void endpointFailed(int datanode, CrailException cause) {
      fail(cause);
    }

    @Override
    public void rejected() {
      fail(ErrorCode.CLOSED, "store");
    }

    /** True while it has just come. */
    boolean lendsNothing() {
      Endpoints.Known known = connections.endpoints().find(id);
      return known != null && known.description().regions().isEmpty();
    }

    /** Begins to read the first bytes of some region. */
    void begin() throws CrailException {
      Endpoints.Known known = connections.endpoints().find(id);
      if (known == null) {
        throw ErrorCode.UNAVAILABLE.exception("datanode " + id);
      }
      Region region =
          known.description().regions().values().stream()
              .findFirst()
              .orElseThrow(() -> ErrorCode.UNAVAILABLE.exception("it lends nothing"));
      Extent extent = new Extent(0, Extent.MIN_LENGTH, new Place(id, region.index(), 0, 0));
      StorageEndpoint endpoint = known.endpoint();
      read = new Transfer();
      read.prepare(memory, 0, Extent.MIN_LENGTH, extent, 0, deadlineNanos());
      endpoint.read(read);
    }

    void end() throws CrailException, InterruptedException {
      await(read);
      CrailException failure = read.failure();
      if (failure != null && failure.code() != ErrorCode.STALE_EXTENT) {
        throw failure;
      }
    }
  }

  private long deadlineNanos() {
    return connections.nanoTime() + patienceNanos;
  }

  private void await(Completion completion) throws CrailException, InterruptedException {
    if (!connections.loop().await(completion, deadlineNanos() + patienceNanos)) {
      throw ErrorCode.TIMED_OUT.exception("");
    }
  }

  /** What is done with a datanode; those that fail are asked no more. */
  private interface Step {
    void run(Probe probe) throws CrailException, InterruptedException;
  }

  private void forEach(Step step) throws InterruptedException {
    for (Probe each : List.copyOf(probes)) {
      try {
        step.run(each);
      } catch (CrailException e) {
        problems.put(each.uuid, e.getMessage());
        probes.remove(each);
      }
    }
  }

  private List<DatanodeLatency> ask(ClusterReport cluster)
      throws CrailException, InterruptedException {
    find(cluster);
    probes.forEach(each -> connections.loop().submit((LoopTask) each));
    forEach(
        probe -> {
          await(probe);
          if (probe.isFailed()) {
            throw probe.failure();
          }
        });
    probes.removeIf(Probe::lendsNothing);
    // The first read makes the connection; all at the same time, since some may not answer.
    forEach(Probe::begin);
    forEach(Probe::end);
    long end = System.nanoTime() + ROUNDS_NANOS;
    for (int round = 0; round < ROUNDS; round++) {
      forEach(
          probe -> {
            long began = System.nanoTime();
            if (began - end < 0) {
              probe.begin();
              probe.end();
              probe.micros.add(Math.max(1, (System.nanoTime() - began) / 1000));
            }
          });
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    }
    // Those whose turn did not come have answered once, and their times are not known.
    probes.removeIf(each -> each.micros.isEmpty());
    Map<UUID, Long> micros = new HashMap<>();
    probes.forEach(each -> micros.put(each.uuid, DatanodeLatency.median(each.micros)));
    return DatanodeLatency.compare(cluster.datanodes(), micros, problems);
  }

  /** Each datanode once, at the first namenode that hears of it. */
  private void find(ClusterReport cluster) throws CrailException, InterruptedException {
    Map<UUID, Probe> found = new HashMap<>();
    for (NamenodeReport namenode : cluster.answering()) {
      for (ReportDatanodes.Datanode each : datanodes(namenode.index())) {
        UUID uuid = new UUID(each.uuidHigh(), each.uuidLow());
        switch (each.state()) {
          case ONLINE, DRAINING, IMPAIRED -> found.putIfAbsent(uuid, new Probe(uuid, each.id()));
          case OFFLINE, LOST -> {
            // The report says it.
          }
        }
      }
    }
    probes.addAll(found.values());
  }

  /** The datanodes of a namenode; none if it has gone since the report. */
  private List<ReportDatanodes.Datanode> datanodes(int namenode)
      throws CrailException, InterruptedException {
    try {
      return ClusterQuery.datanodes(connections.namenodes(), namenode);
    } catch (CrailException e) {
      if (MissingNamenode.isDown(e.code())) {
        return List.of();
      }
      throw e;
    }
  }
}

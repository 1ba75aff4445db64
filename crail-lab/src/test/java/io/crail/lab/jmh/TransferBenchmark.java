/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.common.config.Configuration;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.Transfer;
import io.crail.storage.mapped.MappedEndpoint;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
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

/** Reads and writes at a datanode without a store: both ends of a tier, and no objects. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class TransferBenchmark {
  private static final int BLOCK = 1 << 20;
  private static final int IN_FLIGHT = 16;
  private static final long GENERATION = 1000;
  private static final long TIMEOUT_NANOS = 10_000_000_000L;

  /** Whether the client maps the datanode's memory or uses TCP. */
  @Param({"true", "false"})
  public boolean mapped;

  /** Bytes of a transfer. */
  @Param({"4096"})
  public int size;

  private final Transfer[] transfers = new Transfer[IN_FLIGHT];
  private final ByteBuffer[] buffers = new ByteBuffer[IN_FLIGHT];
  private final Extent extent = new Extent(0, BLOCK, new Place(1, 0, 0, GENERATION));
  private StorageServer server;
  private Transport transport;
  private ClientLoop loop;
  private StorageClient client;
  private StorageEndpoint endpoint;

  /** Starts a datanode without a namenode, and connects. */
  @Setup
  public void open() throws Exception {
    Configuration configuration =
        Configuration.builder()
            .set("crail.storage.tcp.port", "0", "the benchmark")
            .set("crail.storage.tcp.storagelimit", String.valueOf(BLOCK), "the benchmark")
            .set("crail.storage.tcp.allocationsize", String.valueOf(BLOCK), "the benchmark")
            .build();
    StorageTier tier = StorageTier.find("tcp");
    server = tier.createServer(configuration, List.of());
    UUID uuid = UUID.randomUUID();
    server.start(uuid);
    transport = TransportProvider.open(configuration);
    loop = transport.newClientLoop("bench");
    client = tier.createClient(new StorageClient.Context(configuration, transport, loop, 1));
    DatanodeDescription datanode = describe(uuid);
    endpoint =
        mapped
            ? MappedEndpoint.open(
                    datanode,
                    1,
                    loop.clock(),
                    reason -> {
                      throw new IllegalStateException(reason);
                    })
                .orElseThrow()
            : client.connect(datanode);
    for (int i = 0; i < IN_FLIGHT; i++) {
      transfers[i] = new Transfer();
      buffers[i] = ByteBuffer.allocateDirect(size);
    }
    writeMany();
  }

  private DatanodeDescription describe(UUID uuid) {
    return DatanodeDescription.of(uuid, "tcp", server.address(), 0, server);
  }

  /** Closes everything. */
  @TearDown
  public void close() throws Exception {
    endpoint.close();
    client.close();
    loop.close();
    transport.close();
    server.close();
  }

  /** One read. */
  @Benchmark
  public void read() throws Exception {
    move(false, 1);
  }

  /** One write. */
  @Benchmark
  public void write() throws Exception {
    move(true, 1);
  }

  /** Many reads: all are issued, then all are awaited. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public void readMany() throws Exception {
    move(false, IN_FLIGHT);
  }

  /** Many writes: all are issued, then all are awaited. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public void writeMany() throws Exception {
    move(true, IN_FLIGHT);
  }

  private void move(boolean write, int count) throws Exception {
    long deadline = loop.clock().nanoTime() + TIMEOUT_NANOS;
    for (int i = 0; i < count; i++) {
      transfers[i].prepare(buffers[i], 0, size, extent, i * size, deadline);
      if (write) {
        endpoint.write(transfers[i]);
      } else {
        endpoint.read(transfers[i]);
      }
    }
    for (int i = 0; i < count; i++) {
      if (!loop.await(transfers[i], deadline) || transfers[i].failure() != null) {
        throw new IllegalStateException("a transfer failed", transfers[i].failure());
      }
    }
  }
}

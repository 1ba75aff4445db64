/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.rpc.ClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A datanode of a tier alone and a client, for what every tier does and what one of them does. */
abstract class TierContract {
  static final int BLOCK = TierBench.BLOCK;
  static final int REGION = TierBench.REGION;
  static final int REGIONS = TierBench.REGIONS;

  /** How long a transfer may take that is expected to succeed. */
  static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final List<AutoCloseable> open = new ArrayList<>();
  private final Map<StorageServer, UUID> identities = new LinkedHashMap<>();

  /** Where the datanode comes from. */
  final TierBench bench;

  @TempDir Path directory;

  /** The seed of {@link #random}, which is printed. */
  long seed;

  /** The source of random choices. */
  Random random;

  /** The loop of the client. */
  ClientLoop loop;

  /** The running server. */
  StorageServer server;

  /** The largest generation that was used. */
  long lastGeneration = 1000;

  private StorageClient client;

  TierContract(TierBench bench) {
    this.bench = bench;
  }

  @BeforeEach
  final void start() throws Exception {
    String given = System.getProperty("crail.seed");
    seed = given == null ? System.nanoTime() : Long.parseLong(given);
    System.out.println(getClass().getSimpleName() + ": -Dcrail.seed=" + seed);
    random = new Random(seed);
    bench.prepare(random, directory);
    server = bench.newServer();
    start(server);
    loop = bench.newLoop();
    client = bench.newClient(loop);
  }

  @AfterEach
  final void stop() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    client.close();
    loop.close();
    server.close();
    bench.close();
  }

  /** An endpoint of the running server, closed at the end of the test. */
  final StorageEndpoint endpoint() throws Exception {
    return endpoint(describe(server));
  }

  /** An endpoint of a datanode, closed at the end of the test. */
  final StorageEndpoint endpoint(DatanodeDescription datanode) throws Exception {
    StorageEndpoint endpoint = bench.connect(client, datanode);
    open.add(endpoint);
    return endpoint;
  }

  /** What a client learns of a server; its identity is the one that it was started with. */
  final DatanodeDescription describe(StorageServer of) {
    return DatanodeDescription.of(identities.get(of), "test", of.address(), 0, of);
  }

  /**
   * False for a tier whose memory is reached without its server, so that no one there could compare
   * generations; namenodes let its space rest in place of that.
   */
  final boolean checksGeneration() {
    return server.traits().checksGeneration();
  }

  /** An extent in the name of a generation that is larger than all before. */
  final Extent extent(int region, long offset, int length) {
    return new Extent(0, length, new Place(1, region, offset, ++lastGeneration));
  }

  /** The same place in the name of a later generation. */
  final Extent laterExtent(Extent old) {
    return extent(old.place().region(), old.place().offset(), old.length());
  }

  /** A direct buffer of random bytes. */
  final ByteBuffer randomBuffer(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return ByteBuffer.allocateDirect(length).put(0, bytes);
  }

  /** Starts a transfer. */
  final Transfer begin(
      StorageEndpoint endpoint,
      boolean write,
      ByteBuffer buffer,
      int bufferOffset,
      int length,
      Extent extent,
      int extentOffset,
      long timeoutNanos) {
    Transfer transfer = new Transfer();
    transfer.prepare(
        buffer, bufferOffset, length, extent, extentOffset, loop.clock().nanoTime() + timeoutNanos);
    if (write) {
      endpoint.write(transfer);
    } else {
      endpoint.read(transfer);
    }
    return transfer;
  }

  /** Waits for a transfer. */
  final Transfer await(Transfer transfer) throws InterruptedException {
    assertTrue(
        loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE_NANOS),
        "the transfer never ended");
    return transfer;
  }

  /** Writes, and expects success. */
  final void write(StorageEndpoint endpoint, ByteBuffer buffer, Extent extent, int extentOffset)
      throws Exception {
    succeed(
        begin(endpoint, true, buffer, 0, buffer.capacity(), extent, extentOffset, PATIENCE_NANOS));
  }

  /** Reads, and expects success. */
  final ByteBuffer read(StorageEndpoint endpoint, int length, Extent extent, int extentOffset)
      throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(length);
    succeed(begin(endpoint, false, buffer, 0, length, extent, extentOffset, PATIENCE_NANOS));
    return buffer;
  }

  /** Waits for a transfer, and expects success. */
  final void succeed(Transfer transfer) throws Exception {
    CrailException failure = await(transfer).failure();
    if (failure != null) {
      throw failure.rethrown();
    }
  }

  /** Waits for a transfer, and expects one of these errors. */
  final ErrorCode fail(Transfer transfer, ErrorCode... expected) throws InterruptedException {
    CrailException failure = await(transfer).failure();
    assertNotNull(failure, "success in place of " + List.of(expected));
    assertTrue(List.of(expected).contains(failure.code()), failure::toString);
    return failure.code();
  }

  /** Starts a server; what describes it has its identity. */
  final void start(StorageServer newServer) throws IOException {
    UUID uuid = UUID.randomUUID();
    newServer.start(uuid);
    identities.put(newServer, uuid);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import io.crail.storage.nvmf.NvmfStorageTier;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A datanode of the NVMf tier and a client of it, for tests of the tier's endpoint. */
abstract class FlashClient {
  static final int MIB = 1 << 20;
  static final long PATIENCE = 60_000_000_000L;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  final Random random = new Random(seed);

  /** What is closed after a test, the last one first. */
  final List<AutoCloseable> open = new ArrayList<>();

  private final NettyTransport transport = new NettyTransport(Configuration.builder().build());
  final ClientLoop loop = transport.newClientLoop("test");
  final UUID uuid = UUID.randomUUID();
  StorageServer server;

  @BeforeEach
  void tellSeed() {
    System.out.println("-Dcrail.seed=" + seed);
  }

  @AfterEach
  final void stop() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    loop.close();
    transport.close();
    stopped();
  }

  /** Checks what has to be right when all is closed. */
  void stopped() throws Exception {}

  /** Starts the datanode, and connects to it. */
  final StorageEndpoint endpoint(Configuration settings) throws Exception {
    server = new NvmfStorageTier().createServer(settings, List.of());
    open.add(server);
    server.start(uuid);
    return connect(settings);
  }

  final StorageEndpoint connect(Configuration settings) throws Exception {
    return connect(settings, DatanodeDescription.of(uuid, "nvmf", server.address(), 0, server));
  }

  final StorageEndpoint connect(Configuration settings, DatanodeDescription datanode)
      throws Exception {
    StorageClient client = client(settings);
    open.add(client);
    StorageEndpoint endpoint = client.connect(datanode);
    open.add(endpoint);
    return endpoint;
  }

  final StorageClient client(Configuration settings) throws CrailException {
    return new NvmfStorageTier()
        .createClient(new StorageClient.Context(settings, transport, loop, 1));
  }

  static Extent extent(int region) {
    return new Extent(0, MIB, new Place(1, region, 0, 1));
  }

  final Transfer begin(
      StorageEndpoint endpoint, boolean write, ByteBuffer buffer, int region, long nanos) {
    Transfer transfer = new Transfer();
    transfer.prepare(
        buffer, 0, buffer.capacity(), extent(region), 7, loop.clock().nanoTime() + nanos);
    begin(endpoint, write, transfer);
    return transfer;
  }

  final Transfer begin(
      StorageEndpoint endpoint,
      boolean write,
      ByteBuffer buffer,
      int offset,
      int length,
      Extent extent,
      int extentOffset) {
    Transfer transfer = new Transfer();
    long deadline = loop.clock().nanoTime() + PATIENCE;
    transfer.prepare(buffer, offset, length, extent, extentOffset, deadline);
    begin(endpoint, write, transfer);
    return transfer;
  }

  private static void begin(StorageEndpoint endpoint, boolean write, Transfer transfer) {
    if (write) {
      endpoint.write(transfer);
    } else {
      endpoint.read(transfer);
    }
  }

  final ErrorCode end(Transfer transfer) throws InterruptedException {
    assertTrue(loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE), "it hangs");
    return transfer.failure() == null ? ErrorCode.OK : transfer.failure().code();
  }

  /**
   * Checks what a write and a read allocate at the client. The waiting thread drives the loop, so
   * nearly all that a client does is counted with it.
   *
   * @param most bytes for each
   */
  final void assertAllocatesAtMost(int most, StorageEndpoint endpoint, int offset, int length)
      throws InterruptedException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();
    ByteBuffer bytes = Moves.memory(length, random);
    Transfer transfer = new Transfer();
    for (boolean write : new boolean[] {true, false}) {
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 20; round++) {
        long before = threads.getThreadAllocatedBytes(self);
        for (int i = 0; i < 100; i++) {
          long deadline = loop.clock().nanoTime() + PATIENCE;
          transfer.prepare(bytes, 0, length, extent(0), offset, deadline);
          begin(endpoint, write, transfer);
          assertEquals(ErrorCode.OK, end(transfer));
        }
        least = Math.min(least, threads.getThreadAllocatedBytes(self) - before);
      }
      System.out.printf("%s of %d at %d: %d bytes%n", write, length, offset, least / 100);
      assertTrue(least / 100 <= most, least / 100 + " bytes");
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The device of a datanode, or of its client, goes and comes back. Soft-RoCE ends its removal only
 * when no process has anything of the device any more, so that it ends at all shows that all was
 * released.
 */
@Tag("rdma")
@DisabledIfSystemProperty(
    named = "crail.test.rdma.device",
    matches = ".*",
    disabledReason = "takes the devices of bin/rdma-vm away")
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class RdmaDeviceRemovalTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MIB = 1 << 20;

  @TempDir Path dataPath;

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final Configuration configuration =
      Configuration.builder()
          .set(RdmaStorageKeys.INTERFACE, "10.9.0.2")
          .set(RdmaStorageKeys.PORT, 0)
          .set(RdmaStorageKeys.CONNECT_TIMEOUT, "10s")
          .set(RdmaStorageKeys.STORAGE_LIMIT, 4 * MIB)
          .set(RdmaStorageKeys.ALLOCATION_SIZE, 2 * MIB)
          .build();
  private ClientLoop loop;
  private StorageClient client;

  @BeforeEach
  void openClient() throws Exception {
    NettyTransport transport = new NettyTransport(configuration);
    open.push(transport::close);
    loop = transport.newClientLoop("test");
    open.push(loop::close);
    client =
        new RdmaStorageTier()
            .createClient(new StorageClient.Context(configuration, transport, loop, 1));
    open.push(client::close);
  }

  @AfterEach
  void close() throws Exception {
    try {
      while (!open.isEmpty()) {
        open.pop().close();
      }
    } finally {
      // Behind that, the removal of a device does not end while a process holds it.
      for (int host = 0; host < 2; host++) {
        if (!Files.exists(Path.of("/sys/class/infiniband/rxe" + host))) {
          add(host);
        }
      }
    }
  }

  private StorageServer server(UUID uuid) throws IOException {
    StorageServer server =
        new RdmaStorageTier().createServer(configuration, List.of("-d", dataPath.toString()));
    server.start(uuid);
    open.push(server);
    return server;
  }

  private StorageEndpoint connect(StorageServer server, UUID uuid) throws Exception {
    StorageEndpoint endpoint =
        client.connect(DatanodeDescription.of(uuid, "rdma", server.address(), 0, server));
    open.push(endpoint::close);
    return endpoint;
  }

  private Transfer begin(StorageEndpoint to, boolean write, int length, long timeoutNanos) {
    Transfer transfer = new Transfer();
    transfer.prepare(
        ByteBuffer.allocateDirect(length),
        0,
        length,
        new Extent(0, Math.max(4096, length), new Place(0, 0, 0, 1)),
        0,
        loop.clock().nanoTime() + timeoutNanos);
    if (write) {
      to.write(transfer);
    } else {
      to.read(transfer);
    }
    return transfer;
  }

  private CrailException end(Transfer transfer) throws InterruptedException {
    assertTrue(
        loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE_NANOS), "it never ended");
    return transfer.failure();
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!condition.call()) {
      assertTrue(System.nanoTime() - deadline < 0, () -> "not in time: " + what);
      loop.pollOnce();
      Thread.sleep(10);
    }
  }

  private static Process start(String... command) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static void add(int host) throws Exception {
    Process adding =
        start("rdma", "link", "add", "rxe" + host, "type", "rxe", "netdev", "rv" + host);
    assertTrue(adding.waitFor(60, TimeUnit.SECONDS), "the device is not made");
    assertEquals(0, adding.exitValue());
  }

  /** Has transfers under way while the device goes. */
  private void remove(int host, StorageEndpoint endpoint) throws Exception {
    List<Transfer> underWay = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      underWay.add(begin(endpoint, i % 2 == 0, MIB, 10_000_000_000L));
    }
    Process removing = start("rdma", "link", "delete", "rxe" + host);
    for (Transfer transfer : underWay) {
      CrailException failure = end(transfer);
      assertTrue(
          failure == null
              || failure.code() == ErrorCode.UNAVAILABLE
              || failure.code() == ErrorCode.TIMED_OUT,
          String.valueOf(failure));
    }
    until("the kernel's removal", () -> !removing.isAlive());
    assertEquals(0, removing.exitValue());
    assertNotNull(end(begin(endpoint, true, 10, 2_000_000_000L)));
  }

  @Test
  void aDatanodeWithoutItsDeviceSaysThatItServesNoMore() throws Exception {
    UUID uuid = UUID.randomUUID();
    StorageServer server = server(uuid);
    StorageEndpoint endpoint = connect(server, uuid);
    assertNull(end(begin(endpoint, true, MIB, PATIENCE_NANOS)));
    assertTrue(server.failure().isEmpty());
    remove(1, endpoint);
    String failure = server.failure().orElseThrow();
    assertTrue(failure.contains("rxe1") && failure.contains("10.9.0.2:"), failure);
    assertThrows(IOException.class, () -> server.fence(0));
    server.close();
    add(1);
    UUID next = UUID.randomUUID();
    StorageServer another = server(next);
    StorageEndpoint again = connect(another, next);
    until("a transfer", () -> end(begin(again, true, MIB, PATIENCE_NANOS)) == null);
  }

  @Test
  void aClientLetsGoOfItsDeviceAndConnectsAgainWhenItIsBack() throws Exception {
    UUID uuid = UUID.randomUUID();
    StorageServer server = server(uuid);
    StorageEndpoint endpoint = connect(server, uuid);
    for (int round = 0; round < 2; round++) {
      until("a transfer", () -> end(begin(endpoint, true, MIB, PATIENCE_NANOS)) == null);
      remove(0, endpoint);
      add(0);
    }
    until("a transfer", () -> end(begin(endpoint, false, MIB, PATIENCE_NANOS)) == null);
    assertFalse(server.failure().isPresent());
  }
}

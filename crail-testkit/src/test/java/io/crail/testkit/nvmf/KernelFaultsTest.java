/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.NvmeTransport;
import io.crail.protocol.part.Extent;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the NVMf tier when the kernel's target, or the way to it, is gone for a while. */
@Tag("rdma")
@TwoHosts
class KernelFaultsTest {
  private static final int MIB = 1 << 20;
  private static final int LENGTH = 60_000;
  private static final long PATIENCE = 60_000_000_000L;
  private static final long SHORT = 30_000_000L;

  /** Longer than {@link #SHORT}, and shorter than a claim of a namespace waits. */
  private static final int DELAY_MILLIS = 100;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<AutoCloseable> open = new ArrayList<>();
  private final NettyTransport transport = new NettyTransport(Configuration.builder().build());
  private final ClientLoop loop = transport.newClientLoop("test");
  private KernelSubsystem subsystem;

  @BeforeEach
  void tellSeed() {
    System.out.println("-Dcrail.seed=" + seed);
  }

  @AfterEach
  void stop() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    loop.close();
    transport.close();
    subsystem.close();
  }

  private StorageEndpoint endpoint(NvmeTransport over, int millis) throws Exception {
    subsystem = new KernelSubsystem(512, 5 * MIB, millis);
    Configuration settings =
        Configuration.builder()
            .set(NvmfStorageKeys.TARGETS, subsystem.text(over))
            .set(NvmfStorageKeys.KEEP_ALIVE, KernelTarget.KEEP_ALIVE)
            .set(NvmfStorageKeys.CONNECT_TIMEOUT, "10s")
            .build();
    StorageServer server = new NvmfStorageTier().createServer(settings, List.of());
    open.add(server);
    UUID uuid = UUID.randomUUID();
    server.start(uuid);
    StorageClient client =
        new NvmfStorageTier().createClient(new StorageClient.Context(settings, transport, loop, 1));
    open.add(client);
    StorageEndpoint endpoint =
        client.connect(DatanodeDescription.of(uuid, "nvmf", server.address(), 0, server));
    open.add(endpoint);
    return endpoint;
  }

  private Transfer begin(StorageEndpoint endpoint, boolean write, ByteBuffer buffer, long nanos) {
    Transfer transfer = new Transfer();
    Extent extent = new Extent(0, 1, 0, MIB, 1, 0);
    transfer.prepare(buffer, 0, buffer.capacity(), extent, 7, loop.clock().nanoTime() + nanos);
    if (write) {
      endpoint.write(transfer);
    } else {
      endpoint.read(transfer);
    }
    return transfer;
  }

  private ErrorCode end(Transfer transfer) throws InterruptedException {
    assertTrue(loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE), "it hangs");
    return transfer.failure() == null ? ErrorCode.OK : transfer.failure().code();
  }

  private void assertReads(StorageEndpoint endpoint, ByteBuffer expected) throws Exception {
    ByteBuffer read = Moves.memory(LENGTH, random);
    long until = loop.clock().nanoTime() + PATIENCE;
    // While the target comes back, an attempt may still find nobody.
    ErrorCode code = end(begin(endpoint, false, read, PATIENCE));
    while (code == ErrorCode.UNAVAILABLE && loop.clock().nanoTime() - until < 0) {
      code = end(begin(endpoint, false, read, PATIENCE));
    }
    assertEquals(ErrorCode.OK, code);
    assertArrayEquals(Moves.bytes(expected, 0, LENGTH), Moves.bytes(read, 0, LENGTH));
  }

  @ParameterizedTest
  @EnumSource
  void aTargetThatWasDownIsUsedAgain(NvmeTransport over) throws Exception {
    StorageEndpoint endpoint = endpoint(over, 0);
    ByteBuffer bytes = Moves.memory(LENGTH, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, PATIENCE)));
    subsystem.down();
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, true, bytes, PATIENCE)));
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, false, bytes, PATIENCE)));
    subsystem.up();
    assertReads(endpoint, bytes);
  }

  /** The target's device places the data of a read itself, and must find nobody. */
  @ParameterizedTest
  @EnumSource
  void whatComesAfterTheDeadlineFindsNoMemory(NvmeTransport over) throws Exception {
    StorageEndpoint endpoint = endpoint(over, DELAY_MILLIS);
    ByteBuffer bytes = Moves.memory(LENGTH, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, PATIENCE)));
    ByteBuffer late = Moves.memory(LENGTH, random);
    byte[] before = Moves.bytes(late, 0, LENGTH);
    assertEquals(ErrorCode.TIMED_OUT, end(begin(endpoint, false, late, SHORT)));
    assertReads(endpoint, bytes);
    assertArrayEquals(before, Moves.bytes(late, 0, LENGTH));
  }

  @Test
  void aTargetThatIsNotHeardIsLeft() throws Exception {
    StorageEndpoint endpoint = endpoint(NvmeTransport.RDMA, 0);
    ByteBuffer bytes = Moves.memory(LENGTH, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, PATIENCE)));
    ByteBuffer late = Moves.memory(LENGTH, random);
    byte[] before = Moves.bytes(late, 0, LENGTH);
    RdmaHost.answersArrive(false);
    try {
      assertEquals(ErrorCode.TIMED_OUT, end(begin(endpoint, false, late, 30 * SHORT)));
    } finally {
      RdmaHost.answersArrive(true);
    }
    assertReads(endpoint, bytes);
    assertArrayEquals(before, Moves.bytes(late, 0, LENGTH));
  }
}

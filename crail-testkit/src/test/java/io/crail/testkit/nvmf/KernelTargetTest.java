/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.Nqn;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.rdma.NvmeRdmaKeys;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the host of NVMe over Fabrics against the target of the machine's kernel. */
@Tag("rdma")
@TwoHosts
class KernelTargetTest {
  private static final int UNUSED_PORT = 4429;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());

  @BeforeEach
  void listen() throws IOException {
    KernelTarget.listen();
  }

  private static TestHost.Start start(NvmeTransport transport, String nqn) {
    return TestHost.Start.at(KernelTarget.subsystem(transport, nqn))
        .limits(TestHost.Start.limits(16, 60_000, 60_000));
  }

  @ParameterizedTest
  @CsvSource({
    "java, TCP, false, false",
    "java, TCP, true, true",
    "java, RDMA, false, false",
    "spdk, TCP, false, false",
    "spdk, TCP, true, true",
    "spdk, RDMA, false, false"
  })
  void movesWhatItIsAskedTo(
      String initiator, NvmeTransport transport, boolean headerDigest, boolean dataDigest)
      throws Exception {
    System.out.println("-Dcrail.seed=" + seed);
    TestInitiators.assumePresent(initiator);
    try (TestHost host =
        new TestHost(
            start(transport, KernelTarget.NQN)
                .initiator(initiator)
                .digests(headerDigest, dataDigest))) {
      List<NamespaceData> namespaces = host.controller().namespaces();
      assertEquals(2, namespaces.size());
      assertEquals(512, namespaces.get(0).blockLength());
      assertEquals(4L << 30, namespaces.get(0).bytes());
      assertEquals(4096, namespaces.get(1).blockLength());
      assertTrue(host.controller().data().inCapsule() >= 4096, host.controller().data()::toString);
      Moves.check(host, new Random(seed), number -> null);
    }
  }

  @Test
  void requestsWaitForMemoryThatMayBeRegistered() throws Exception {
    int length = 300_032;
    int many = 14;
    Configuration settings =
        Configuration.builder().set(NvmeRdmaKeys.REGISTRATION_LIMIT, 1L << 20).build();
    Random random = new Random(seed);
    try (TestHost host =
        new TestHost(start(NvmeTransport.RDMA, KernelTarget.NQN).namespaces(1), settings)) {
      host.controller();
      List<ByteBuffer> written = new ArrayList<>();
      List<ByteBuffer> read = new ArrayList<>();
      List<CompletableFuture<Integer>> all = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        written.add(Moves.memory(length, random));
        all.add(host.write(1, 1000L * i, length / 512, written.get(i), 0, length));
      }
      awaitAll(all);
      for (int i = 0; i < many; i++) {
        read.add(Moves.memory(length, random));
        all.add(host.read(1, 1000L * i, length / 512, read.get(i), 0, length));
      }
      awaitAll(all);
      assertEquals(written, read);
    }
  }

  private static void awaitAll(List<CompletableFuture<Integer>> all) throws Exception {
    for (CompletableFuture<Integer> each : all) {
      int status = TestHost.await(each);
      assertEquals(NvmeStatus.OK, status, NvmeStatus.text(status));
    }
    all.clear();
  }

  /** Others would find it in the kernel until that ends. */
  @Test
  void aSubsystemThatCannotBeMadeLeavesNothing() throws IOException {
    List<String> before = present();
    assertThrows(IOException.class, () -> new KernelSubsystem(1 << 20, 512, -1));
    assertEquals(before, present());
  }

  private static List<String> present() throws IOException {
    List<String> names = new ArrayList<>();
    for (Path each : List.of(KernelSubsystem.DISKS, KernelTarget.TARGETS.resolve("subsystems"))) {
      names.addAll(List.of(each.toFile().list()));
    }
    return names.stream().sorted().toList();
  }

  /** Beyond what a number of 32 bits counts. */
  @ParameterizedTest
  @EnumSource
  void farBlocksAreReached(NvmeTransport transport) throws Exception {
    long bytes = 5L << 30;
    int length = 1 << 20;
    try (KernelSubsystem subsystem = new KernelSubsystem(bytes, 512);
        TestHost host = new TestHost(start(transport, subsystem.nqn()))) {
      assertEquals(bytes, host.controller().namespaces().get(0).bytes());
      Random random = new Random(seed);
      for (long at : new long[] {0, (4L << 30) - length, 4L << 30, bytes - length}) {
        ByteBuffer memory = Moves.memory(length + 3, random);
        byte[] content = Moves.bytes(memory, 3, length);
        int count = length / 512;
        assertEquals(
            NvmeStatus.OK, TestHost.await(host.write(1, at / 512, count, memory, 3, length)));
        ByteBuffer read = Moves.memory(length + 5, random);
        assertEquals(NvmeStatus.OK, TestHost.await(host.read(1, at / 512, count, read, 5, length)));
        assertArrayEquals(content, Moves.bytes(read, 5, length));
      }
    }
  }

  /** As many connections as a day of trouble brings; soft-RoCE of old failed after a hundred. */
  @ParameterizedTest
  @CsvSource({"java, TCP", "java, RDMA", "spdk, TCP", "spdk, RDMA"})
  void connectionsMayBeMadeAgainAndAgain(String initiator, NvmeTransport transport)
      throws Exception {
    TestInitiators.assumePresent(initiator);
    int rounds = Boolean.getBoolean("crail.test.long") ? 200 : 60;
    for (int round = 0; round < rounds; round++) {
      try (TestHost host =
          new TestHost(start(transport, KernelTarget.NQN).initiator(initiator).namespaces(1))) {
        assertEquals(1, host.controller().namespaces().size());
        assertEquals(NvmeStatus.OK, TestHost.await(host.flush(1)));
      }
    }
  }

  /** Each request ends, and the next host finds all in order. */
  @ParameterizedTest
  @CsvSource({"java, TCP", "java, RDMA", "spdk, TCP", "spdk, RDMA"})
  void aCloseEndsWhatIsInFlight(String initiator, NvmeTransport transport) throws Exception {
    TestInitiators.assumePresent(initiator);
    Random random = new Random(seed);
    int length = 64 * 1024;
    for (int round = 0; round < 5; round++) {
      List<CompletableFuture<Integer>> all = new ArrayList<>();
      try (TestHost host = new TestHost(start(transport, KernelTarget.NQN).initiator(initiator))) {
        host.controller();
        for (int i = 0; i < 16; i++) {
          ByteBuffer memory = Moves.memory(length, random);
          all.add(
              i % 2 == 0
                  ? host.read(1, 0, length / 512, memory, 0, length)
                  : host.write(1, i * length / 512, length / 512, memory, 0, length));
        }
      }
      for (CompletableFuture<Integer> one : all) {
        try {
          assertEquals(NvmeStatus.OK, TestHost.await(one));
        } catch (TestHost.Lost e) {
          assertFalse(e.getMessage().isBlank());
        }
      }
    }
    try (TestHost host = new TestHost(start(transport, KernelTarget.NQN).initiator(initiator))) {
      Moves.check(host, random, number -> null);
    }
  }

  @ParameterizedTest
  @EnumSource
  void describesAnUnknownSubsystemInWords(NvmeTransport transport) {
    try (TestHost host = new TestHost(start(transport, "nqn.2026-11.io.crail:none"))) {
      CrailException refusal = assertThrows(CrailException.class, host::controller);
      assertTrue(refusal.getMessage().contains("no such subsystem"), refusal.getMessage());
    }
  }

  @Test
  void reportsAPortWithoutTargetAsLost() {
    InetSocketAddress nobody = new InetSocketAddress(RdmaHost.SERVER, UNUSED_PORT);
    TestHost.Start start = start(NvmeTransport.RDMA, KernelTarget.NQN).address(nobody);
    try (TestHost host = new TestHost(start)) {
      String cause = assertThrows(TestHost.Lost.class, host::controller).getMessage();
      assertTrue(cause.contains("refused") || cause.contains("listen"), cause);
    }
  }

  /** The kernel's discovery service is behind each port of its target. */
  @ParameterizedTest
  @EnumSource
  void aDiscoveryServiceNamesTheSubsystem(NvmeTransport transport) throws Exception {
    InetSocketAddress at = KernelTarget.subsystem(transport, "").address();
    String text = transport + "://" + RdmaHost.SERVER + ":" + at.getPort() + "/";
    Configuration settings =
        Configuration.builder()
            .set(NvmfStorageKeys.TARGETS, text + Nqn.DISCOVERY)
            .set(NvmfStorageKeys.KEEP_ALIVE, KernelTarget.KEEP_ALIVE)
            .set(NvmfStorageKeys.CONNECT_TIMEOUT, "20s")
            .set(NvmfStorageKeys.OVERWRITE, true)
            .build();
    StorageServer server = new NvmfStorageTier().createServer(settings, List.of());
    try {
      server.start(UUID.randomUUID());
      String details = server.traits().details().toString();
      String named = transport == NvmeTransport.TCP ? text.substring("tcp://".length()) : text;
      assertTrue(details.contains(" " + named + KernelTarget.NQN), details);
      assertEquals(-1, details.indexOf(Nqn.DISCOVERY));
    } finally {
      server.close();
    }
  }
}

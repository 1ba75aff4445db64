/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.datanode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.ListDatanodes;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.Transfer;
import io.crail.storage.daemon.Datanode;
import io.crail.storage.tcp.TcpStorageKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon, with real namenodes and the TCP tier. */
class DatanodeTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @TempDir Path dataPath;

  private final NettyTransport transport = new NettyTransport(Configuration.defaults());
  private final List<NameNodeServer> namenodes = new ArrayList<>();
  private final List<Datanode> datanodes = new ArrayList<>();
  private final ClientLoop loop = transport.newClientLoop("test");

  @AfterEach
  void stop() throws IOException {
    datanodes.forEach(Datanode::close);
    namenodes.forEach(NameNodeServer::close);
    loop.close();
    transport.close();
    try (var left = Files.list(dataPath)) {
      assertEquals(List.of(), left.toList(), "something was left behind");
    }
  }

  private NameNodeServer namenode(int index, int count, int port) throws IOException {
    return NameNodeServer.start(
        Configuration.defaults(),
        index,
        count,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
        transport,
        Clock.SYSTEM);
  }

  private Configuration configuration(String addresses) {
    return Configuration.builder()
        .set(ClusterKeys.NAMENODE_ADDRESS, addresses)
        .set(ClusterKeys.KEEP_ALIVE, "100ms")
        .set(TcpStorageKeys.DATA_PATH, dataPath)
        .set(TcpStorageKeys.PORT, 0)
        .set(TcpStorageKeys.STORAGE_LIMIT, 8 << 20)
        .set(TcpStorageKeys.ALLOCATION_SIZE, 2 << 20)
        .build();
  }

  private String addresses() {
    List<String> texts = new ArrayList<>();
    for (NameNodeServer namenode : namenodes) {
      texts.add("crail://127.0.0.1:" + namenode.address().getPort());
    }
    return String.join(",", texts);
  }

  private Datanode datanode(Configuration configuration, int storageClass, String... arguments)
      throws IOException {
    Datanode datanode =
        Datanode.start(
            configuration, StorageTier.find("tcp"), storageClass, List.of(arguments), transport);
    datanodes.add(datanode);
    return datanode;
  }

  private NameNodeClient client(Configuration configuration) {
    return new NameNodeClient(
        loop,
        configuration.get(ClusterKeys.NAMENODE_ADDRESS),
        new NameNodeClient.Identity(Hello.ROLE_CLIENT, 1, "test", "crail"),
        RpcPeer.Options.defaults(),
        PATIENCE_NANOS);
  }

  private static DescribeDatanode.Response describeOnly(NameNodeClient client, int namenode)
      throws CrailException, InterruptedException {
    List<Integer> ids =
        client
            .callAt(namenode, NameNodeOperations.LIST_DATANODES, new ListDatanodes.Request(-1))
            .join()
            .ids();
    assertEquals(1, ids.size());
    return client
        .callAt(
            namenode,
            NameNodeOperations.DESCRIBE_DATANODE,
            new DescribeDatanode.Request(ids.get(0), 0))
        .join();
  }

  @Test
  void describesItselfToItsNamenodes() throws Exception {
    namenodes.add(namenode(0, 2, 0));
    namenodes.add(namenode(1, 2, 0));
    Configuration configuration = configuration(addresses());
    Datanode datanode = datanode(configuration, 5);
    assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
    NameNodeClient client = client(configuration);
    for (int i = 0; i < 2; i++) {
      DescribeDatanode.Response known = describeOnly(client, i);
      assertEquals(datanode.server().address().getPort(), known.port());
      assertEquals("127.0.0.1", known.host().toString());
      assertEquals("tcp", known.tier().toString());
      assertEquals(5, known.storageClass());
      assertTrue(known.traits().checksGeneration());
      assertTrue(known.traits().directory().length() > 0);
      assertEquals(datanode.server().traits(), known.traits());
      assertEquals(
          List.of(i, i + 2), known.regions().stream().map(Region::index).sorted().toList());
      assertEquals(2 << 20, known.regions().get(0).length());
    }
    client.close();
  }

  @Test
  void registersAgainAfterARestartOfANamenode() throws Exception {
    namenodes.add(namenode(0, 1, 0));
    Configuration configuration = configuration(addresses());
    Datanode datanode = datanode(configuration, -1);
    assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
    int port = namenodes.get(0).address().getPort();
    namenodes.remove(0).close();
    namenodes.add(namenode(0, 1, port));
    NameNodeClient client = client(configuration);
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (client
        .callAt(0, NameNodeOperations.LIST_DATANODES, new ListDatanodes.Request(-1))
        .join()
        .ids()
        .isEmpty()) {
      assertTrue(System.nanoTime() < end, "it never came back");
      Thread.onSpinWait();
    }
    while (describeOnly(client, 0).regions().size() < 4) {
      assertTrue(System.nanoTime() < end, "its regions never came back");
      Thread.onSpinWait();
    }
    client.close();
  }

  @Test
  void mayBeStartedBeforeItsNamenode() throws Exception {
    NameNodeServer first = namenode(0, 1, 0);
    int port = first.address().getPort();
    first.close();
    Datanode datanode = datanode(configuration("crail://127.0.0.1:" + port), -1);
    assertFalse(datanode.awaitRegistered(TimeUnit.MILLISECONDS.toNanos(200)));
    namenodes.add(namenode(0, 1, port));
    assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
  }

  @Test
  void endsWhenItIsRemoved() throws Exception {
    namenodes.add(namenode(0, 1, 0));
    Configuration configuration = configuration(addresses());
    Datanode datanode = datanode(configuration, -1);
    assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
    CompletableFuture<Boolean> stopped = awaitingStop(datanode);
    NameNodeClient client = client(configuration);
    client
        .callAt(
            0,
            NameNodeOperations.REMOVE_DATANODE,
            new RemoveDatanode.Request(
                true, datanode.server().address().getPort(), Utf8.of("127.0.0.1")))
        .join();
    assertTrue(stopped.get(60, TimeUnit.SECONDS));
    client.close();
  }

  @Test
  void endsWhenItsServerFails() throws Exception {
    namenodes.add(namenode(0, 1, 0));
    Configuration configuration = configuration(addresses());
    FailingTier tier = new FailingTier();
    Datanode datanode = Datanode.start(configuration, tier, 0, List.of(), transport);
    datanodes.add(datanode);
    assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
    CompletableFuture<Boolean> stopped = awaitingStop(datanode);
    tier.failure = "its device was removed";
    ExecutionException end =
        assertThrows(ExecutionException.class, () -> stopped.get(60, TimeUnit.SECONDS));
    assertTrue(end.getCause().getMessage().contains(tier.failure), end::toString);
  }

  /** A tier whose server works until a test makes it fail. */
  private static final class FailingTier implements StorageTier {
    private final StorageTier tcp = StorageTier.find("tcp");
    private volatile String failure;

    @Override
    public String name() {
      return tcp.name();
    }

    @Override
    public StorageClient createClient(StorageClient.Context context) throws CrailException {
      return tcp.createClient(context);
    }

    @Override
    public StorageServer createServer(Configuration configuration, List<String> arguments) {
      StorageServer server = tcp.createServer(configuration, arguments);
      return new StorageServer() {
        @Override
        public void start(UUID uuid) throws IOException {
          server.start(uuid);
        }

        @Override
        public InetSocketAddress address() {
          return server.address();
        }

        @Override
        public List<Region> regions() {
          return server.regions();
        }

        @Override
        public TierTraits traits() {
          return server.traits();
        }

        @Override
        public Optional<String> failure() {
          return Optional.ofNullable(failure);
        }

        @Override
        public Fence fence(int region) throws IOException {
          return server.fence(region);
        }

        @Override
        public void close() {
          server.close();
        }
      };
    }
  }

  @Test
  void closingIsNotBeingRemoved() throws Exception {
    namenodes.add(namenode(0, 1, 0));
    Datanode datanode = datanode(configuration(addresses()), -1);
    CompletableFuture<Boolean> stopped = awaitingStop(datanode);
    datanode.close();
    assertFalse(stopped.get(60, TimeUnit.SECONDS));
    assertFalse(datanode.awaitRegistered(1));
  }

  private static CompletableFuture<Boolean> awaitingStop(Datanode datanode) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return datanode.awaitStopped();
          } catch (CrailException | InterruptedException e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void impossibleSettingsAreRefusedAndLeaveNothingBehind() {
    Configuration good = configuration("crail://127.0.0.1:9");
    ConfigException refusal =
        assertThrows(ConfigException.class, () -> datanode(good, -1, "-q", "1"));
    assertTrue(refusal.getMessage().contains("'-q'"), refusal.getMessage());
    Configuration otherTier = good.toBuilder().set(StorageKeys.TYPES, "rdma").build();
    refusal = assertThrows(ConfigException.class, () -> datanode(otherTier, -1));
    assertTrue(refusal.getMessage().contains("'tcp'"), refusal.getMessage());
    Configuration elsewhere = good.toBuilder().set(TcpStorageKeys.INTERFACE, "192.0.2.1").build();
    IOException failure = assertThrows(IOException.class, () -> datanode(elsewhere, -1));
    assertTrue(failure.getMessage().contains("192.0.2.1"), failure.getMessage());
  }

  @Test
  void aTakenPortIsNamed() throws Exception {
    Configuration configuration = configuration("crail://127.0.0.1:9");
    Datanode first = datanode(configuration, -1);
    String port = String.valueOf(first.server().address().getPort());
    IOException failure =
        assertThrows(IOException.class, () -> datanode(configuration, -1, "-p", port));
    assertTrue(failure.getMessage().contains(port), failure.getMessage());
  }

  @Test
  void aServerOnAllAddressesNamesOne() throws Exception {
    namenodes.add(namenode(0, 1, 0));
    Configuration configuration = configuration(addresses());
    Datanode datanode = datanode(configuration, -1, "-i", "0.0.0.0");
    assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
    NameNodeClient client = client(configuration);
    assertEquals("127.0.0.1", describeOnly(client, 0).host().toString());
    client.close();
  }

  @Test
  void aChosenHostIsRegistered() throws Exception {
    namenodes.add(namenode(0, 1, 0));
    Configuration configuration =
        configuration(addresses()).toBuilder().set(StorageKeys.HOST, "localhost").build();
    Datanode datanode = datanode(configuration, -1);
    assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
    NameNodeClient client = client(configuration);
    assertEquals("localhost", describeOnly(client, 0).host().toString());
    client.close();
  }

  @Test
  void servesOverIpv6() throws Exception {
    Assumptions.assumeTrue(
        NetworkInterface.getByInetAddress(InetAddress.getByName("::1")) != null,
        "no IPv6 on loopback here");
    namenodes.add(namenode(0, 1, 0));
    Configuration configuration = configuration(addresses());
    Datanode datanode = datanode(configuration, -1, "-i", "::1");
    assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
    NameNodeClient client = client(configuration);
    DescribeDatanode.Response known = describeOnly(client, 0);
    assertEquals(InetAddress.getByName("::1"), InetAddress.getByName(known.host().toString()));
    client.close();
    StorageClient.Context context = new StorageClient.Context(configuration, transport, loop, 1);
    try (StorageClient storage = StorageTier.find("tcp").createClient(context);
        StorageEndpoint endpoint =
            storage.connect(
                new DatanodeDescription(
                    new UUID(known.uuidHigh(), known.uuidLow()),
                    "tcp",
                    InetSocketAddress.createUnresolved(known.host().toString(), known.port()),
                    0,
                    TierTraits.ofMemory(FenceKind.GENERATION, true, ""),
                    Map.of()))) {
      Transfer transfer = new Transfer();
      transfer.prepare(
          ByteBuffer.allocateDirect(100),
          0,
          100,
          new Extent(0, 4096, new Place(1, 0, 0, 1)),
          0,
          loop.clock().nanoTime() + PATIENCE_NANOS);
      endpoint.write(transfer);
      assertTrue(loop.await(transfer, transfer.deadlineNanos()));
      assertNull(transfer.failure());
    }
  }
}

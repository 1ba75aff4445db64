/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.ListDatanodes;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.Transfer;
import io.crail.storage.daemon.Datanode;
import io.crail.storage.rdma.RdmaStorageKeys;
import io.crail.storage.rdma.RdmaStorageTier;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What of a registration others learn, and how long a user's memory stays registered. */
@Tag("rdma")
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class RdmaKeysTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int MIB = 1 << 20;
  private static final int REGION = 4 * MIB;

  @TempDir Path dataPath;

  private Configuration.Builder settings() {
    return Configuration.builder()
        .set(RdmaStorageKeys.INTERFACE, RdmaHost.SERVER)
        .set(RdmaStorageKeys.PORT, 0)
        .set(RdmaStorageKeys.CONNECT_TIMEOUT, "20s")
        .set(RdmaStorageKeys.DATA_PATH, dataPath)
        .set(RdmaStorageKeys.STORAGE_LIMIT, REGION)
        .set(RdmaStorageKeys.ALLOCATION_SIZE, REGION);
  }

  /**
   * A registration as the kernel shows it to root.
   *
   * @param lkey the key for this process alone
   * @param rkey the key for peers
   */
  private record Keys(int lkey, int rkey) {}

  private static List<Keys> registrations(long length) throws IOException {
    List<Keys> found = new ArrayList<>();
    Pattern keys = Pattern.compile("(?=.*\\brkey 0x(\\w+))(?=.*\\blkey 0x(\\w+)).*\\bmrlen (\\d+)");
    for (String line : RdmaHost.run("rdma", "-d", "resource", "show", "mr").split("\n")) {
      Matcher matched = keys.matcher(line);
      if (matched.find() && Long.parseLong(matched.group(3)) == length) {
        found.add(
            new Keys(
                Integer.parseUnsignedInt(matched.group(2), 16),
                Integer.parseUnsignedInt(matched.group(1), 16)));
      }
    }
    return found;
  }

  /** What is announced goes from datanode to namenode, and from there to the clients. */
  @Test
  void aDatanodeAnnouncesTheKeyForPeersAlone() throws Exception {
    try (NettyTransport transport = new NettyTransport(Configuration.defaults());
        NameNodeServer namenode =
            NameNodeServer.start(
                Configuration.defaults(),
                0,
                1,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                transport,
                Clock.SYSTEM);
        ClientLoop loop = transport.newClientLoop("test")) {
      Configuration configuration =
          settings()
              .set(
                  ClusterKeys.NAMENODE_ADDRESS, "crail://127.0.0.1:" + namenode.address().getPort())
              .build();
      NameNodeClient client =
          new NameNodeClient(
              loop,
              configuration.get(ClusterKeys.NAMENODE_ADDRESS),
              new NameNodeClient.Identity(Hello.ROLE_CLIENT, 1, "test", "crail"),
              RpcPeer.Options.defaults(),
              PATIENCE_NANOS);
      try (Datanode datanode =
              Datanode.start(configuration, StorageTier.find("rdma"), 0, List.of(), transport);
          AutoCloseable closing = client::close) {
        assertTrue(datanode.awaitRegistered(PATIENCE_NANOS));
        List<Keys> known = registrations(REGION);
        assertEquals(1, known.size(), known::toString);
        Region region = datanode.server().regions().get(0);
        assertEquals(Integer.toUnsignedLong(known.get(0).rkey), region.key());

        RegisterRegion.Request told =
            new RegisterRegion.Request(
                0, region.index(), region.length(), region.address(), region.key(), 0);
        assertHolds(
            RegisterRegion.Request.class, "datanode start index length address key generation");
        ByteBuffer bytes = ByteBuffer.allocate(100).order(ByteOrder.LITTLE_ENDIAN);
        RegisterRegion.Request.CODEC.encode(told, bytes, 0);
        assertEquals(48, RegisterRegion.Request.LAYOUT.fixedLength(), "bytes for something else");
        assertKeys(bytes, 48, known.get(0));

        List<Integer> ids =
            client
                .callAt(0, NameNodeOperations.LIST_DATANODES, new ListDatanodes.Request(-1))
                .join()
                .ids();
        DescribeDatanode.Response got =
            client
                .callAt(
                    0,
                    NameNodeOperations.DESCRIBE_DATANODE,
                    new DescribeDatanode.Request(ids.get(0), 0))
                .join();
        assertEquals(List.of(region), got.regions());
        assertHolds(Region.class, "index length address key");
        bytes.clear().put(new byte[100]).clear();
        Region.CODEC.encode(got.regions().get(0), bytes, 0);
        assertEquals(28, Region.LAYOUT.fixedLength(), "bytes for something else");
        assertKeys(bytes, 28, known.get(0));
      }
    }
  }

  private static void assertHolds(Class<? extends Record> message, String names) {
    List<String> components =
        Arrays.stream(message.getRecordComponents()).map(each -> each.getName()).toList();
    assertEquals(List.of(names.split(" ")), components);
  }

  /** The bytes hold the key for peers, once, and the other one nowhere, if it is another. */
  private static void assertKeys(ByteBuffer bytes, int length, Keys keys) {
    int remote = 0;
    int local = 0;
    for (int at = 0; at <= length - Integer.BYTES; at += Integer.BYTES) {
      remote += bytes.getInt(at) == keys.rkey ? 1 : 0;
      local += bytes.getInt(at) == keys.lkey ? 1 : 0;
    }
    assertEquals(1, remote);
    // Soft-RoCE gives memory that peers may use the same number for both.
    assertEquals(keys.lkey == keys.rkey ? 1 : 0, local);
  }

  @Test
  void unreachableMemoryIsNoLongerRegistered() throws Exception {
    UUID uuid = UUID.randomUUID();
    Configuration configuration = settings().set(RdmaStorageKeys.COPY_LIMIT, 0).build();
    try (StorageServer server = new RdmaStorageTier().createServer(configuration, List.of())) {
      server.start(uuid);
      try (NettyTransport transport = new NettyTransport(configuration);
          ClientLoop loop = transport.newClientLoop("test");
          StorageClient client =
              new RdmaStorageTier()
                  .createClient(new StorageClient.Context(configuration, transport, loop, 1));
          StorageEndpoint endpoint =
              client.connect(DatanodeDescription.of(uuid, "rdma", server.address(), 0, server))) {
        ByteBuffer kept = ByteBuffer.allocateDirect(MIB);
        write(loop, endpoint, kept);
        int before = RdmaHost.resources().get("mr");
        ByteBuffer dropped = ByteBuffer.allocateDirect(MIB);
        write(loop, endpoint, dropped);
        assertEquals(before + 1, RdmaHost.resources().get("mr"));
        write(loop, endpoint, dropped);
        assertEquals(before + 1, RdmaHost.resources().get("mr"), "registered anew for each use");
        dropped = null;
        RdmaHost.await(
            "the end of its registration",
            () -> {
              System.gc();
              loop.pollOnce();
              return RdmaHost.resources().get("mr") == before;
            });
        write(loop, endpoint, kept);
        assertEquals(before, RdmaHost.resources().get("mr"), "memory in use was let go");
      }
    }
  }

  /** In a method of its own, so that no frame of the test's keeps the memory. */
  private static void write(ClientLoop loop, StorageEndpoint endpoint, ByteBuffer bytes)
      throws Exception {
    Transfer transfer = new Transfer();
    transfer.prepare(
        bytes,
        0,
        bytes.capacity(),
        new Extent(0, bytes.capacity(), new Place(0, 0, 0, 1)),
        0,
        loop.clock().nanoTime() + PATIENCE_NANOS);
    endpoint.write(transfer);
    assertTrue(loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE_NANOS), "never ended");
    assertNull(transfer.failure());
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.testkit.rdma.OtherPrograms;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.transport.RawPeer;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Others on the devices of a store and at its ports: they are served or turned away, and its
 * clients do not notice.
 */
@Tag("rdma")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class RdmaStrangersTest {
  private static final int MIB = 1 << 20;

  /** Some wait for their like without end. */
  private static final int STRANGER_SECONDS = 5;

  /** Regions that a namenode keeps for its next answers. */
  private static final int MOST_KEPT = 32;

  private final Random random = new Random(Bytes.seed("strangers"));
  private final byte[] bytes = Bytes.random(random, 100_000);

  private static TestCluster start() throws Exception {
    return TestCluster.of(
        EmbeddedCrail.builder()
            .host(RdmaHost.SERVER)
            .storage(32 * MIB)
            .mapped(false)
            .set("crail.namenode.rpctype", "darpc")
            .set("crail.namenode.darpc.connecttimeout", "20s")
            .set("crail.storage.types", "rdma")
            .set("crail.storage.rdma.interface", RdmaHost.SERVER)
            // The test machine may be emulated.
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .set("crail.lease", "60s")
            .set("crail.storage.rdma.connecttimeout", "20s")
            .start());
  }

  private void read(CrailStore store) throws Exception {
    assertArrayEquals(bytes, Bytes.read(store.lookup("/file").get().asFile()));
  }

  @Test
  void strangersAtItsPorts() throws Exception {
    try (TestCluster cluster = start()) {
      CrailStore store = cluster.newStore();
      CrailBlockLocation place = Bytes.write(store, "/file", bytes).getBlockLocations(0, 1)[0];
      String datanode = place.getNames()[0];
      read(store);
      final Map<String, Integer> before = RdmaHost.resources();
      for (int port :
          List.of(
              cluster.crail().namenodeAddresses().get(0).getPort(),
              Integer.parseInt(datanode.substring(datanode.lastIndexOf(':') + 1)))) {
        // Whatever it makes of it.
        stranger("rping", "-c", "-a", RdmaHost.SERVER, "-C", "1", "-p", "" + port);
        read(store);
        OtherPrograms.End end =
            stranger("ib_send_lat", "-R", "-x", "1", "-F", "-p", "" + port, RdmaHost.SERVER);
        assertNotEquals(0, end.status(), end.output());
        read(store);
        garbage(store, new InetSocketAddress(RdmaHost.SERVER, port));
      }
      CrailStore later = cluster.newStore();
      read(later);
      later.close();
      RdmaHost.await("nothing of them stays, as before: " + before, () -> isAsBefore(before));
      read(store);
    }
  }

  private static OtherPrograms.End stranger(String... command) throws Exception {
    OtherPrograms.End end = OtherPrograms.run(STRANGER_SECONDS, command);
    System.out.printf("%s: %d, %s%n", command[0], end.status(), end.output());
    // It is there.
    assertNotEquals(127, end.status(), end.output());
    return end;
  }

  /** A peer that may connect but sends what no server understands. */
  private void garbage(CrailStore store, InetSocketAddress server) throws Exception {
    try (NettyTransport transport = new NettyTransport(Configuration.builder().build());
        ClientLoop loop = transport.newClientLoop("stranger")) {
      for (int length : new int[] {0, 1, 16, 56}) {
        ByteBuffer greeting = length == 0 ? null : ByteBuffer.wrap(Bytes.random(random, length));
        RawPeer peer = new RawPeer(loop);
        peer.connect(server, greeting);
        until(loop, "an answer", () -> peer.isConnected() || peer.end() != null);
        peer.send(Bytes.random(random, 1 + random.nextInt(1000)));
        until(loop, "the end of a stranger", () -> peer.end() != null);
        read(store);
      }
    }
  }

  private static void until(ClientLoop loop, String what, BooleanSupplier condition)
      throws Exception {
    TestCluster.await(
        what,
        () -> {
          loop.pollOnce();
          return condition.getAsBoolean();
        });
  }

  private static boolean isAsBefore(Map<String, Integer> before) throws Exception {
    Map<String, Integer> present = RdmaHost.resources();
    int kept = present.get("mr") - before.get("mr");
    present.put("mr", before.get("mr"));
    return present.equals(before) && kept <= MOST_KEPT;
  }

  @Test
  void othersMeasureTheSameDevices() throws Exception {
    assertTrue(OtherPrograms.pingPong("ibv_rc_pingpong") > 0);
    try (TestCluster cluster = start()) {
      CrailStore store = cluster.newStore();
      Bytes.write(store, "/file", bytes);
      for (String program : List.of("ibv_rc_pingpong", "ibv_srq_pingpong")) {
        assertTrue(OtherPrograms.pingPong(program) > 0);
        read(store);
      }
    }
    assertTrue(OtherPrograms.pingPong("ibv_rc_pingpong") > 0);
  }
}

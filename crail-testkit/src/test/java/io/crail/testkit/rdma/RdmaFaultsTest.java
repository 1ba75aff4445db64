/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.netty.NettyTransport;
import io.crail.rpc.rdma.RdmaKeys;
import io.crail.rpc.rdma.RdmaListener;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import io.crail.storage.mapped.MappedEndpoint;
import io.crail.storage.rdma.RdmaStorageKeys;
import io.crail.storage.rdma.RdmaStorageTier;
import io.crail.storage.region.HugePages;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What may go wrong with one-sided transfers: keys, limits, peers, the network, time. Whatever it
 * is, a transfer ends, typed, and nothing stays in the devices.
 */
@Tag("rdma")
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class RdmaFaultsTest {
  private static final Function<String, StorageEndpoint> NO_DETOUR =
      reason -> {
        throw new AssertionError(reason);
      };

  private static final int MIB = 1 << 20;
  private static final int REGION = 4 * MIB;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @TempDir Path dataPath;

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final Random random = new Random(seed());
  private Map<String, Integer> before;
  private int ackTimeout = 16;
  private ClientLoop loop;
  private StorageClient client;

  private static long seed() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("RdmaFaultsTest: -Dcrail.seed=" + seed);
    return seed;
  }

  @BeforeEach
  void countResources() throws Exception {
    before = RdmaHost.resources();
    assertTrue(before.containsKey("qp"), before::toString);
  }

  @AfterEach
  void nothingStaysInTheDevices() throws Exception {
    RdmaHost.hear(true);
    RdmaHost.cable(true);
    while (!open.isEmpty()) {
      open.pop().close();
    }
    RdmaHost.await(
        "everything is released, as before: " + before, () -> RdmaHost.resources().equals(before));
  }

  private Configuration.Builder settings() {
    return Configuration.builder()
        .set(RdmaStorageKeys.INTERFACE, RdmaHost.SERVER)
        .set(RdmaStorageKeys.PORT, 0)
        // On an emulated machine a new process takes seconds to accept its first client.
        .set(RdmaStorageKeys.CONNECT_TIMEOUT, "20s")
        .set(RdmaKeys.ACK_TIMEOUT, ackTimeout);
  }

  private StorageServer newServer(Configuration.Builder settings, UUID uuid) throws IOException {
    StorageServer server =
        new RdmaStorageTier()
            .createServer(
                settings
                    .set(RdmaStorageKeys.DATA_PATH, dataPath)
                    .set(RdmaStorageKeys.STORAGE_LIMIT, 2 * REGION)
                    .set(RdmaStorageKeys.ALLOCATION_SIZE, REGION)
                    .build(),
                List.of());
    server.start(uuid);
    open.push(server);
    return server;
  }

  private static DatanodeDescription describe(StorageServer server, UUID uuid) {
    return DatanodeDescription.of(uuid, "rdma", server.address(), 0, server);
  }

  private static DatanodeDescription describe(
      InetSocketAddress address, UUID uuid, Map<Integer, Region> regions) {
    TierTraits traits = TierTraits.ofMemory(FenceKind.CUT_OFF, false, "");
    return new DatanodeDescription(uuid, "rdma", address, 0, traits, regions);
  }

  private StorageEndpoint connect(DatanodeDescription datanode) throws Exception {
    return connect(datanode, Anybody.CREDENTIALS);
  }

  private StorageEndpoint connect(DatanodeDescription datanode, Credentials credentials)
      throws Exception {
    if (loop == null) {
      Configuration configuration = settings().build();
      NettyTransport transport = new NettyTransport(configuration);
      open.push(transport::close);
      loop = transport.newClientLoop("test");
      open.push(loop::close);
      client =
          new RdmaStorageTier()
              .createClient(
                  new StorageClient.Context(
                      configuration, transport, loop, 1, (uuid, once) -> credentials));
      open.push(client::close);
    }
    StorageEndpoint endpoint = client.connect(datanode);
    open.push(endpoint::close);
    return endpoint;
  }

  private Transfer begin(
      StorageEndpoint endpoint, boolean write, ByteBuffer buffer, int region, long timeoutNanos) {
    Transfer transfer = new Transfer();
    transfer.prepare(
        buffer,
        0,
        buffer.capacity(),
        new Extent(0, Math.max(4096, buffer.capacity()), new Place(0, region, 0, 1)),
        0,
        loop.clock().nanoTime() + timeoutNanos);
    if (write) {
      endpoint.write(transfer);
    } else {
      endpoint.read(transfer);
    }
    return transfer;
  }

  private CrailException await(Transfer transfer) throws Exception {
    assertTrue(
        loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE_NANOS),
        "the transfer never ended");
    return transfer.failure();
  }

  private void succeed(Transfer transfer) throws Exception {
    CrailException failure = await(transfer);
    if (failure != null) {
      throw failure.rethrown();
    }
  }

  private CrailException fail(Transfer transfer, ErrorCode... codes) throws Exception {
    CrailException failure = await(transfer);
    assertNotNull(failure, "success");
    assertTrue(List.of(codes).contains(failure.code()), failure::toString);
    return failure;
  }

  private ByteBuffer randomBuffer(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return ByteBuffer.allocateDirect(length).put(0, bytes);
  }

  private void moveOnce(StorageEndpoint endpoint, int length) throws Exception {
    ByteBuffer bytes = randomBuffer(length);
    succeed(begin(endpoint, true, bytes, 0, PATIENCE_NANOS));
    ByteBuffer seen = ByteBuffer.allocateDirect(length);
    succeed(begin(endpoint, false, seen, 0, PATIENCE_NANOS));
    assertEquals(-1, bytes.mismatch(seen));
  }

  @Test
  void aWrongKeyFailsItsTransfersAlone() throws Exception {
    UUID uuid = UUID.randomUUID();
    StorageServer server = newServer(settings(), uuid);
    Map<Integer, Region> regions = new HashMap<>();
    Region good = server.regions().get(0);
    regions.put(0, good);
    regions.put(1, new Region(1, REGION, good.address(), good.key() ^ 0x5500));
    // Its key is right, but its memory is another's.
    regions.put(2, new Region(2, REGION, good.address() + REGION / 2, good.key()));
    StorageEndpoint endpoint = connect(describe(server.address(), uuid, regions));
    moveOnce(endpoint, 100);
    List<Transfer> served = new ArrayList<>();
    List<Transfer> refused = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      boolean write = i % 2 == 0;
      served.add(begin(endpoint, write, randomBuffer(1 + i * 10_000), 0, PATIENCE_NANOS));
      refused.add(begin(endpoint, write, randomBuffer(1 + i * 1000), 1, PATIENCE_NANOS));
      served.add(begin(endpoint, !write, randomBuffer(70_000), 0, PATIENCE_NANOS));
    }
    refused.add(begin(endpoint, true, randomBuffer(REGION), 2, PATIENCE_NANOS));
    for (Transfer transfer : refused) {
      CrailException failure = fail(transfer, ErrorCode.UNAVAILABLE);
      assertTrue(failure.getMessage().contains("access"), failure::getMessage);
    }
    for (Transfer transfer : served) {
      succeed(transfer);
    }
    moveOnce(endpoint, MIB);
  }

  @Test
  void aKilledDatanodeIsNoticed() throws Exception {
    try (RdmaChild child = RdmaChild.datanode(dataPath, REGION, -1)) {
      StorageEndpoint endpoint = connect(child.description());
      moveOnce(endpoint, MIB);
      List<Transfer> transfers = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        transfers.add(begin(endpoint, i % 2 == 0, randomBuffer(MIB / 4), 0, PATIENCE_NANOS));
      }
      child.kill();
      for (Transfer transfer : transfers) {
        CrailException failure = await(transfer);
        assertTrue(
            failure == null
                || failure.code() == ErrorCode.UNAVAILABLE
                || failure.code() == ErrorCode.TIMED_OUT,
            String.valueOf(failure));
      }
      long start = loop.clock().nanoTime();
      fail(begin(endpoint, false, randomBuffer(10), 0, PATIENCE_NANOS), ErrorCode.UNAVAILABLE);
      assertTrue(loop.clock().nanoTime() - start < PATIENCE_NANOS / 2, "noticed late");
      RdmaHost.await("the endpoint knows", endpoint::isLost);
    }
  }

  @Test
  void theDatanodesProcessorIsNotInvolved() throws Exception {
    try (RdmaChild child = RdmaChild.datanode(dataPath, REGION, -1)) {
      StorageEndpoint endpoint = connect(child.description());
      moveOnce(endpoint, MIB);
      List<String> seen = new ArrayList<>();
      // The end of its start may fall into a round, but not into each: bytes would.
      for (int round = 0; round < 3; round++) {
        long used = child.processorMillis();
        long began = System.nanoTime();
        for (int i = 0; i < 50; i++) {
          moveOnce(endpoint, i % 10 == 0 ? MIB / 2 : 1 + random.nextInt(20_000));
        }
        long millis = (System.nanoTime() - began) / 1_000_000;
        used = child.processorMillis() - used;
        // It looks after its connections ten times a second.
        if (used < 200 + millis / 10) {
          return;
        }
        seen.add(used + " ms of its processor in " + millis + " ms");
      }
      throw new AssertionError(seen.toString());
    }
  }

  @Test
  void aRefusalSaysWhy() throws Exception {
    UUID uuid = UUID.randomUUID();
    StorageServer server = newServer(settings().set(RdmaStorageKeys.CONNECTION_LIMIT, 1), uuid);
    StorageEndpoint other = connect(describe(server, UUID.randomUUID()));
    fail(begin(other, true, randomBuffer(10), 0, PATIENCE_NANOS), ErrorCode.DATA_LOST);
    assertTrue(other.isLost());
    StorageEndpoint first = connect(describe(server, uuid));
    moveOnce(first, 10);
    StorageEndpoint second = connect(describe(server, uuid));
    CrailException failure =
        fail(begin(second, true, randomBuffer(10), 0, PATIENCE_NANOS), ErrorCode.UNAVAILABLE);
    assertTrue(failure.getMessage().contains("limit"), failure::getMessage);
    first.close();
    RdmaHost.await(
        "the place of the first one is free",
        () -> await(begin(second, true, randomBuffer(10), 0, PATIENCE_NANOS)) == null);
    moveOnce(second, 10);
  }

  /** A login by a first message of zeros. */
  private record Zeros(int length) implements Credentials {
    @Override
    public int mechanism() {
      return 200;
    }

    @Override
    public Initiator begin(Claim claim) {
      return new Initiator() {
        @Override
        public byte[] first() {
          return new byte[length];
        }

        @Override
        public byte[] next(byte[] challenge) {
          throw new AssertionError("a second message");
        }
      };
    }
  }

  @Test
  void aLoginThatTheDatanodeDoesNotTakeIsRefused() throws Exception {
    UUID uuid = UUID.randomUUID();
    StorageEndpoint endpoint = connect(describe(newServer(settings(), uuid), uuid), new Zeros(24));
    CrailException failure =
        fail(begin(endpoint, true, randomBuffer(10), 0, PATIENCE_NANOS), ErrorCode.UNSUPPORTED);
    assertTrue(failure.getMessage().contains("refused the login"), failure::getMessage);
  }

  @Test
  void aLoginThatTheNetworkCannotCarryIsRefused() throws Exception {
    UUID uuid = UUID.randomUUID();
    StorageEndpoint endpoint = connect(describe(newServer(settings(), uuid), uuid), new Zeros(25));
    CrailException failure =
        fail(begin(endpoint, true, randomBuffer(10), 0, PATIENCE_NANOS), ErrorCode.UNSUPPORTED);
    assertTrue(failure.getMessage().contains("25 bytes"), failure::getMessage);
  }

  @Test
  void noOtherServerIsTakenForADatanode() throws Exception {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getByName(RdmaHost.SERVER), 0);
    RdmaListener listener =
        RdmaListener.listen("stranger", any, 16, 14, request -> request.reject(null));
    open.push(listener::close);
    Map<Integer, Region> regions = Map.of(0, new Region(0, REGION, 4096, 1));
    StorageEndpoint endpoint = connect(describe(listener.address(), UUID.randomUUID(), regions));
    fail(begin(endpoint, true, randomBuffer(10), 0, PATIENCE_NANOS), ErrorCode.UNAVAILABLE);
    InetSocketAddress nobody = new InetSocketAddress(any.getAddress(), 5);
    StorageEndpoint missing = connect(describe(nobody, UUID.randomUUID(), regions));
    fail(begin(missing, false, randomBuffer(10), 0, PATIENCE_NANOS), ErrorCode.UNAVAILABLE);
  }

  @Test
  @TwoHosts
  void theCableIsPulledAndPutBack() throws Exception {
    ackTimeout = 14;
    UUID uuid = UUID.randomUUID();
    StorageEndpoint endpoint = connect(describe(newServer(settings(), uuid), uuid));
    for (int round = 0; round < 2; round++) {
      moveOnce(endpoint, MIB);
      assertEquals(1, RdmaHost.connections(RdmaHost.CLIENT_DEVICE), "not between the hosts");
      List<Transfer> transfers = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        if (i == 20) {
          loop.pollOnce();
          RdmaHost.cable(false);
        }
        // Those before may end before the cable is out; those after it cannot.
        transfers.add(begin(endpoint, i % 2 == 0, randomBuffer(MIB / 4), 0, PATIENCE_NANOS));
      }
      RdmaHost.await(
          "the connection is given up",
          () -> {
            loop.pollOnce();
            return RdmaHost.connections(RdmaHost.CLIENT_DEVICE) == 0;
          });
      RdmaHost.cable(true);
      for (Transfer transfer : transfers) {
        CrailException failure = await(transfer);
        assertTrue(
            failure == null || failure.code() == ErrorCode.UNAVAILABLE, String.valueOf(failure));
      }
    }
    moveOnce(endpoint, MIB);
    assertEquals(1, RdmaHost.connections(RdmaHost.CLIENT_DEVICE), "not between the hosts");
  }

  @Test
  @TwoHosts
  void nothingIsTouchedBehindADeadline() throws Exception {
    UUID uuid = UUID.randomUUID();
    // The device goes on trying for longer than the deadlines.
    ackTimeout = 18;
    StorageEndpoint endpoint = connect(describe(newServer(settings(), uuid), uuid));
    ByteBuffer stored = randomBuffer(MIB);
    succeed(begin(endpoint, true, stored, 0, PATIENCE_NANOS));
    ByteBuffer target = ByteBuffer.allocateDirect(MIB);
    ByteBuffer source = randomBuffer(MIB);
    RdmaHost.hear(false);
    Transfer read = begin(endpoint, false, target, 0, TimeUnit.MILLISECONDS.toNanos(300));
    Transfer write = begin(endpoint, true, source, 1, TimeUnit.MILLISECONDS.toNanos(300));
    Transfer later = begin(endpoint, false, ByteBuffer.allocateDirect(MIB), 0, PATIENCE_NANOS);
    fail(read, ErrorCode.TIMED_OUT);
    fail(write, ErrorCode.TIMED_OUT);
    // Both buffers are the user's again.
    byte[] mark = new byte[MIB];
    random.nextBytes(mark);
    target.put(0, mark);
    source.put(0, new byte[MIB]);
    RdmaHost.hear(true);
    succeed(later);
    for (int i = 0; i < 10; i++) {
      moveOnce(endpoint, 100_000);
    }
    assertEquals(-1, target.mismatch(ByteBuffer.wrap(mark)));
    ByteBuffer elsewhere = ByteBuffer.allocateDirect(MIB);
    succeed(begin(endpoint, false, elsewhere, 1, PATIENCE_NANOS));
    assertEquals(-1, elsewhere.mismatch(ByteBuffer.allocate(MIB)), "a late write was placed");
  }

  @Test
  void lockedMemoryThatIsMissingIsNamed() throws Exception {
    try (RdmaChild child = RdmaChild.datanode(dataPath, 4L * MIB, MIB)) {
      String message = child.line();
      assertTrue(message.contains("ulimit -l"), message);
      assertTrue(message.contains(String.valueOf(MIB)), message);
    }
    UUID uuid = UUID.randomUUID();
    StorageServer server = newServer(settings(), uuid);
    try (RdmaChild child = RdmaChild.client(describe(server, uuid), 2 * MIB, MIB)) {
      String message = child.line();
      assertTrue(message.startsWith("LIMIT_EXCEEDED"), message);
      assertTrue(message.contains("ulimit -l"), message);
      // Little goes through memory that is registered already.
      assertEquals("written", child.line());
    }
  }

  @Test
  void regionsMayLieInHugePages() throws Exception {
    Path mount = Path.of("/dev/hugepages");
    Optional<HugePages> pages = HugePages.of(mount);
    assumeTrue(pages.isPresent(), "no huge pages are mounted");
    assumeTrue(
        freeHugePages() * pages.get().pageLength() >= 2 * REGION, "too few huge pages are free");
    final int others = list(mount).size();
    UUID uuid = UUID.randomUUID();
    StorageServer server =
        new RdmaStorageTier()
            .createServer(
                settings()
                    .set(RdmaStorageKeys.STORAGE_LIMIT, 2 * REGION)
                    .set(RdmaStorageKeys.ALLOCATION_SIZE, REGION)
                    .build(),
                List.of("-d", mount.toString()));
    server.start(uuid);
    open.push(server);
    assertEquals(others + 2, list(mount).size());
    DatanodeDescription description = describe(server, uuid);
    StorageEndpoint remote = connect(description);
    moveOnce(remote, MIB);
    StorageEndpoint local =
        MappedEndpoint.open(
                new DatanodeDescription(
                    uuid, "rdma", server.address(), 0, server.traits(), description.regions()),
                1,
                loop.clock(),
                NO_DETOUR)
            .orElseThrow();
    open.push(local::close);
    ByteBuffer bytes = randomBuffer(MIB);
    succeed(begin(local, true, bytes, 1, PATIENCE_NANOS));
    ByteBuffer seen = ByteBuffer.allocateDirect(MIB);
    succeed(begin(remote, false, seen, 1, PATIENCE_NANOS));
    assertEquals(-1, bytes.mismatch(seen));
    server.close();
    assertEquals(others, list(mount).size());
  }

  private static long freeHugePages() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
      return lines
          .filter(line -> line.startsWith("HugePages_Free:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
          .sum();
    }
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.toList();
    }
  }

  /**
   * Also when the datanode's device goes on trying for hours; some do without end where the client
   * has asked for seven repetitions.
   */
  @ParameterizedTest
  @ValueSource(ints = {14, 31})
  @TwoHosts
  void clientsThatVanishAreForgotten(int datanodesAckTimeout) throws Exception {
    ackTimeout = 14;
    UUID uuid = UUID.randomUUID();
    Configuration.Builder settings =
        settings()
            .set(RdmaKeys.ACK_TIMEOUT, datanodesAckTimeout)
            .set(RdmaStorageKeys.CONNECTION_LIMIT, 1)
            .set(RdmaStorageKeys.KEEP_ALIVE, "200ms");
    StorageServer server = newServer(settings, uuid);
    int pairs = RdmaHost.resources().get("qp");
    StorageEndpoint first = connect(describe(server, uuid));
    moveOnce(first, 10);
    RdmaHost.hear(false);
    // No end is announced; the datanode finds out by itself.
    RdmaHost.await(
        "no queue pair of the datanode", () -> RdmaHost.resources().get("qp") <= pairs + 1);
    RdmaHost.hear(true);
    StorageEndpoint second = connect(describe(server, uuid));
    RdmaHost.await(
        "room for another client",
        () -> await(begin(second, true, randomBuffer(10), 0, PATIENCE_NANOS)) == null);
  }
}

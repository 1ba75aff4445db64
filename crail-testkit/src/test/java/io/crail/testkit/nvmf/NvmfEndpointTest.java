/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.InitiatorProvider;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.File;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the tier's endpoint against targets that end, are silent, or change under it. */
@Tag("once")
class NvmfEndpointTest extends TargetClient {
  private static final int WRITE = 0x01;
  private static final int READ = 0x02;
  private static final long MILLIS = 1_000_000;

  /** Bytes that a command may allocate at the client, most of it Netty's. */
  private static final int MOST_ALLOCATED = 300;

  /** Bytes of the heap that many connections may leave. */
  private static final int MOST_HEAP = MIB;

  /** Bytes outside of the heap; a connection has 64 KiB to receive, and 10 KiB to send. */
  private static final int MOST_DIRECT = MIB / 4;

  @Test
  void regionsLieOnSeveralTargets() throws Exception {
    NvmeTarget first = target(512);
    NvmeTarget second = target(4096);
    StorageEndpoint endpoint = endpoint(first, second);
    assertEquals(2, server.regions().size());
    assertEquals(4096, server.traits().granularity());
    for (int region = 0; region < 2; region++) {
      ByteBuffer bytes = Moves.memory(100_000, random);
      assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, region, PATIENCE)));
      assertArrayEquals(
          Moves.bytes(bytes, 0, 100_000), targets.get(region).namespace(1).read(MIB + 7, 100_000));
    }
  }

  @Test
  void aStartThatFailsNamesTheTargetAndTheReason() throws Exception {
    NvmeTarget target = target(512);
    Configuration settings =
        settings(target).toBuilder().set(NvmfStorageKeys.TARGETS, target.text() + "-none").build();
    startFails(settings, target.nqn() + "-none at ", "the target knows no such subsystem");
    target.down();
    startFails(settings(target), target.nqn() + " at ", "refused");
  }

  private void startFails(Configuration settings, String... words) {
    String cause = assertThrows(IOException.class, () -> endpoint(settings)).getMessage();
    for (String each : words) {
      assertTrue(cause.contains(each), cause);
    }
  }

  @Test
  void oneDeadTargetDoesNotHinderTheOther() throws Exception {
    NvmeTarget first = target(512);
    NvmeTarget second = target(512);
    StorageEndpoint endpoint = endpoint(first, second);
    ByteBuffer bytes = Moves.memory(5000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 1, PATIENCE)));
    first.down();
    List<Transfer> all = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      all.add(begin(endpoint, false, Moves.memory(5000, random), i % 2, PATIENCE));
    }
    for (int i = 0; i < 40; i++) {
      assertEquals(i % 2 == 0 ? ErrorCode.UNAVAILABLE : ErrorCode.OK, end(all.get(i)));
    }
    first.up();
    assertEquals(ErrorCode.OK, end(begin(endpoint, false, bytes, 0, PATIENCE)));
  }

  @Test
  void oneSilentTargetOfFourLeavesTheOthersAlone() throws Exception {
    NvmeTarget[] four = {target(512), target(512), target(512), target(512)};
    StorageEndpoint endpoint = endpoint(four);
    ByteBuffer bytes = Moves.memory(4096, random);
    for (int region = 0; region < 4; region++) {
      assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, region, PATIENCE)));
    }
    int[] reads = {0};
    four[0].plan((queue, opcode, count) -> Fate.SILENT);
    long until = loop.clock().nanoTime() + TimeUnit.SECONDS.toNanos(4);
    long longest = 0;
    Transfer lost = begin(endpoint, false, Moves.memory(4096, random), 0, PATIENCE);
    while (loop.clock().nanoTime() - until < 0) {
      long begun = loop.clock().nanoTime();
      ByteBuffer memory = Moves.memory(4096, random);
      Transfer read = begin(endpoint, false, memory, 1 + reads[0]++ % 3, PATIENCE);
      assertEquals(ErrorCode.OK, end(read));
      longest = Math.max(longest, loop.clock().nanoTime() - begun);
    }
    assertEquals(ErrorCode.UNAVAILABLE, end(lost));
    // An attempt to connect that held the loop up would take a second.
    assertTrue(longest < TimeUnit.MILLISECONDS.toNanos(800), longest + " ns");
  }

  /** A read is sent again; a write is not, since the first one may still be executed. */
  @Test
  void readsSurviveALostConnectionAndWritesFail() throws Exception {
    NvmeTarget target = target(4096);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(20_000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    for (int opcode : new int[] {READ, WRITE}) {
      int[] left = {1};
      target.plan(
          (queue, command, count) -> {
            synchronized (left) {
              return queue == 1 && command == opcode && left[0]-- == 1 ? Fate.CLOSE : Fate.NORMAL;
            }
          });
      ByteBuffer read = Moves.memory(4089, random);
      assertEquals(ErrorCode.OK, end(begin(endpoint, false, read, 0, PATIENCE)));
      assertArrayEquals(Moves.bytes(bytes, 0, 4089), Moves.bytes(read, 0, 4089));
      Transfer write = begin(endpoint, true, bytes, 0, PATIENCE);
      assertEquals(opcode == WRITE ? ErrorCode.UNAVAILABLE : ErrorCode.OK, end(write));
    }
  }

  /** Appends of two clients on both sides of a border, while a third one reads what is known. */
  @ParameterizedTest
  @ValueSource(ints = {512, 4096})
  void appendsMeetAtABorderWhileOthersRead(int sector) throws Exception {
    NvmeTarget target = target(sector);
    StorageEndpoint reader = endpoint(target);
    StorageEndpoint[] writers = {connect(settings(target)), connect(settings(target))};
    int border = 3 * 4096;
    int length = 600;
    Extent[] extents = {
      new Extent(0, border, new Place(1, 0, 0, 1)),
      new Extent(border, border, new Place(1, 0, border, 1))
    };
    int[] starts = {border - length, 0};
    for (int round = 0; round < 40; round++) {
      ByteBuffer[] contents = {Moves.memory(length, random), Moves.memory(length, random)};
      int[] ends = {0, 0};
      while (ends[0] < length || ends[1] < length) {
        List<Transfer> all = new ArrayList<>();
        int[] known = ends.clone();
        ByteBuffer[] read = {Moves.memory(length, random), Moves.memory(length, random)};
        for (int side = 0; side < 2; side++) {
          int more = Math.min(1 + random.nextInt(100), length - known[side]);
          if (more > 0) {
            int at = starts[side] + known[side];
            all.add(
                begin(writers[side], true, contents[side], known[side], more, extents[side], at));
          }
          if (known[side] > 0) {
            all.add(begin(reader, false, read[side], 0, known[side], extents[side], starts[side]));
          }
          ends[side] += more;
        }
        for (Transfer transfer : all) {
          assertEquals(ErrorCode.OK, end(transfer));
        }
        for (int side = 0; side < 2; side++) {
          assertArrayEquals(
              Moves.bytes(contents[side], 0, known[side]), Moves.bytes(read[side], 0, known[side]));
        }
      }
      for (int side = 0; side < 2; side++) {
        long at = MIB + extents[side].place().offset() + starts[side];
        assertArrayEquals(
            Moves.bytes(contents[side], 0, length), target.namespace(1).read(at, length));
      }
    }
  }

  /** Its looks at the label find room among more transfers than the queue takes. */
  @Test
  void aBusyClientKeepsItsConnection() throws Exception {
    NvmeTarget target = target(4096);
    endpoint(target);
    StorageEndpoint endpoint =
        connect(settings(target).toBuilder().set(NvmfStorageKeys.QUEUE_DEPTH, 2).build());
    ByteBuffer[] bytes = new ByteBuffer[16];
    ArrayDeque<Transfer> inFlight = new ArrayDeque<>();
    int connections = 0;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    for (int i = 0; System.nanoTime() - end < 0; i++) {
      int slot = i % bytes.length;
      if (i < bytes.length) {
        bytes[slot] = Moves.memory(20_000, random);
      } else {
        assertEquals(ErrorCode.OK, end(inFlight.poll()));
        connections = connections == 0 ? target.connections() : connections;
      }
      inFlight.add(begin(endpoint, i % 3 > 0, bytes[slot], 0, PATIENCE));
    }
    while (!inFlight.isEmpty()) {
      assertEquals(ErrorCode.OK, end(inFlight.poll()));
    }
    assertEquals(connections, target.connections(), "it has connected again");
  }

  @Test
  void aSilentTargetIsGivenUpAtTheDeadline() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    target.plan((queue, command, count) -> queue == 1 ? Fate.IGNORED : Fate.NORMAL);
    Transfer read = begin(endpoint, false, Moves.memory(3000, random), 0, 300 * MILLIS);
    Transfer write = begin(endpoint, true, bytes, 0, 300 * MILLIS);
    Transfer patient = begin(endpoint, false, Moves.memory(3000, random), 0, PATIENCE);
    assertEquals(ErrorCode.TIMED_OUT, end(read));
    assertEquals(ErrorCode.TIMED_OUT, end(write));
    // The connection ended with the write, so this read goes over the next one.
    target.plan((queue, command, count) -> Fate.NORMAL);
    assertEquals(ErrorCode.OK, end(patient));
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
  }

  /** Their writers treat them alike: the target was reached, and is slow. */
  @Test
  void aWriteThatIsLostWithAnOverdueOneIsOverdueToo() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    target.plan((queue, command, count) -> queue == 1 ? Fate.IGNORED : Fate.NORMAL);
    Transfer patient = begin(endpoint, true, bytes, 0, PATIENCE);
    Transfer overdue = begin(endpoint, true, bytes, 0, 300 * MILLIS);
    assertEquals(ErrorCode.TIMED_OUT, end(overdue));
    assertEquals(ErrorCode.TIMED_OUT, end(patient));
    target.plan((queue, command, count) -> Fate.NORMAL);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
  }

  @Test
  void aTargetThatIsThereAndSaysNothingIsLostWithItsKeepAlive() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    target.plan((queue, command, count) -> Fate.IGNORED);
    long start = System.nanoTime();
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(30), "noticed too late");
  }

  /** Its keep-alive goes on, so only the reads show it. */
  @Test
  void aTargetThatAnswersNoReadIsConnectedToAnew() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    target.plan(
        (queue, command, count) -> queue == 1 && command == READ ? Fate.IGNORED : Fate.NORMAL);
    List<Transfer> reads = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      reads.add(begin(endpoint, false, Moves.memory(3000, random), 0, 300 * MILLIS));
    }
    for (Transfer read : reads) {
      assertEquals(ErrorCode.TIMED_OUT, end(read));
    }
    target.plan((queue, command, count) -> Fate.NORMAL);
    assertEquals(ErrorCode.OK, end(begin(endpoint, false, bytes, 0, PATIENCE)));
  }

  /** The read before a write of a part of a sector may take longer than the label's age allows. */
  @Test
  void aWriteThatFollowsALateReadDoesNotLeave() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(100, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    byte[] before = target.namespace(1).read(MIB + 7, 100);
    // The last good look is at most two seconds ago; the connection ends four seconds after it.
    target.spared(Fate.IGNORED);
    LockSupport.parkNanos(1900 * MILLIS);
    target.plan(
        (queue, command, count) -> {
          if (queue == 1 && command == READ) {
            LockSupport.parkNanos(2150 * MILLIS);
          }
          return Fate.NORMAL;
        });
    assertEquals(
        ErrorCode.UNAVAILABLE, end(begin(endpoint, true, Moves.memory(100, random), 0, PATIENCE)));
    assertArrayEquals(before, target.namespace(1).read(MIB + 7, 100));
    target.spared(Fate.NORMAL);
  }

  /** It becomes ready, and then answers no look at a label. */
  @Test
  void anAttemptAtATargetThatShowsNoLabelEndsInTime() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    target.spared(Fate.IGNORED);
    long begun = System.nanoTime();
    ByteBuffer bytes = Moves.memory(100, random);
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    // Half of the keep-alive time of four seconds, a few times at most.
    assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(20), "noticed too late");
    target.spared(Fate.NORMAL);
  }

  @Test
  void lateDataOfAReadAreDropped() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(60_000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    ByteBuffer first = ByteBuffer.allocateDirect(60_000);
    target.hold(true);
    Transfer transfer = begin(endpoint, false, first, 0, 200 * MILLIS);
    assertEquals(ErrorCode.TIMED_OUT, end(transfer));
    ByteBuffer second = Moves.memory(60_000, random);
    long deadline = loop.clock().nanoTime() + PATIENCE;
    transfer.prepare(second, 0, 60_000, extent(0), 7, deadline);
    endpoint.read(transfer);
    target.hold(false);
    assertEquals(ErrorCode.OK, end(transfer));
    assertArrayEquals(Moves.bytes(bytes, 0, 60_000), Moves.bytes(second, 0, 60_000));
    assertArrayEquals(new byte[60_000], Moves.bytes(first, 0, 60_000));
  }

  /** As an owner may that learns of an end. */
  @Test
  void anEndpointMayBeClosedWhenATransferEnds() throws Exception {
    NvmeTarget target = target(4096);
    endpoint(target);
    for (int round = 0; round < 20; round++) {
      StorageEndpoint endpoint = connect(settings(target));
      List<Transfer> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        all.add(begin(endpoint, i % 3 > 0, Moves.memory(2000 + i * 500, random), 0, PATIENCE));
      }
      all.get(random.nextInt(20)).whenComplete(endpoint::close);
      for (Transfer each : all) {
        ErrorCode code = end(each);
        assertTrue(code == ErrorCode.OK || code == ErrorCode.CLOSED, code + "");
      }
    }
    assertEquals(0, loop.outstanding());
  }

  @Test
  void aDatanodeConnectsToItsTargetAgain() throws Exception {
    NvmeTarget target = target(4096);
    endpoint(target);
    target.down();
    target.up();
    long end = System.nanoTime() + PATIENCE;
    while (target.open() < 2) {
      assertTrue(System.nanoTime() - end < 0, "the datanode does not come back");
      Thread.onSpinWait();
    }
    target.down();
    target.namespace(1).shrink(10);
    target.up();
    while (server.failure().isEmpty()) {
      assertTrue(System.nanoTime() - end < 0, "the datanode does not notice");
      Thread.onSpinWait();
    }
    assertTrue(server.failure().get().contains("no longer those"), server.failure().get());
  }

  @Test
  void aChangedNamespaceIsRefused() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    target.namespace(1).readOnly(true);
    Transfer write = begin(endpoint, true, bytes, 0, PATIENCE);
    assertEquals(ErrorCode.UNAVAILABLE, end(write));
    assertTrue(write.failure().getMessage().contains("write protected"));
    assertEquals(ErrorCode.OK, end(begin(endpoint, false, bytes, 0, PATIENCE)));
    target.namespace(1).shrink(10);
    target.cut();
    Transfer read = begin(endpoint, false, bytes, 0, PATIENCE);
    assertEquals(ErrorCode.DATA_LOST, end(read));
    assertTrue(read.failure().getMessage().contains("shrunk"), read.failure().getMessage());
  }

  @Test
  void aRegionOfATargetThatIsNoneIsRefused() throws Exception {
    NvmeTarget target = target(512);
    endpoint(target);
    Region real = server.regions().get(0);
    for (int index : new int[] {1, -1, Integer.MIN_VALUE}) {
      Region region = new Region(0, real.length(), real.address(), (long) index << 32 | 1);
      DatanodeDescription told =
          new DatanodeDescription(
              uuid, "nvmf", server.address(), 0, server.traits(), Map.of(0, region));
      StorageEndpoint endpoint = connect(settings(target), told);
      Transfer read = begin(endpoint, false, Moves.memory(512, random), 0, PATIENCE);
      assertEquals(ErrorCode.PROTOCOL, end(read));
    }
  }

  /** It takes longer than the other steps of a start together. */
  @Test
  void aTargetHasTheTimeToStartThatItAsksFor() throws Exception {
    Assumptions.assumeTrue(initiator().equals(InitiatorProvider.JAVA), "SPDK has its own limit");
    NvmeTarget target = target(512, new TargetOptions().spared(MIB).starts(60, 3000));
    endpoint(target);
    StorageEndpoint endpoint =
        connect(settings(target).toBuilder().set(NvmfStorageKeys.CONNECT_TIMEOUT, "300ms").build());
    ByteBuffer bytes = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
  }

  /** Only who needs the secret has to be able to read its file. */
  @Test
  void aClientThatCannotReadItsSecretSaysSo() throws Exception {
    Configuration settings =
        Configuration.builder().set(NvmfStorageKeys.SECRET, "file:/nowhere/secret").build();
    CrailException refusal = assertThrows(CrailException.class, () -> client(settings));
    assertEquals(ErrorCode.UNSUPPORTED, refusal.code());
    String words = "'crail.storage.nvmf.secret' has the bad value 'file:/nowhere/secret'";
    assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
  }

  /** Neither descriptors nor memory. */
  @Test
  void aThousandConnectionsLeaveNothing() throws Exception {
    NvmeTarget target = target(512);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(600, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    int rounds = Boolean.getBoolean("crail.test.long") ? 1000 : 50;
    reconnect(endpoint, target, 20);
    long before = descriptors();
    long heap = heap();
    long direct = direct();
    reconnect(endpoint, target, rounds);
    assertTrue(target.connections() >= 2 * rounds);
    awaitAtMost(before + 4, NvmfEndpointTest::descriptors, "descriptors");
    awaitAtMost(heap + MOST_HEAP, NvmfEndpointTest::heap, "bytes of the heap");
    awaitAtMost(direct + MOST_DIRECT, NvmfEndpointTest::direct, "bytes outside of the heap");
  }

  private void reconnect(StorageEndpoint endpoint, NvmeTarget target, int rounds)
      throws InterruptedException {
    ByteBuffer bytes = Moves.memory(600, random);
    for (int i = 0; i < rounds; i++) {
      target.cut();
      assertEquals(ErrorCode.OK, end(begin(endpoint, false, bytes, 0, PATIENCE)));
    }
  }

  private static void awaitAtMost(long most, LongSupplier used, String what) {
    long end = System.nanoTime() + PATIENCE / 3;
    for (long now = used.getAsLong(); now > most; now = used.getAsLong()) {
      assertTrue(System.nanoTime() - end < 0, now + " " + what + ", and at most " + most);
    }
  }

  private static long heap() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Netty's memory, and Java's; which of Netty's is Java's too depends on the release. */
  private static long direct() {
    System.gc();
    return UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory()
        + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
  }

  private static long descriptors() {
    String[] names = new File("/proc/self/fd").list();
    assertNotNull(names);
    return names.length;
  }

  @Test
  void aDatanodeNamesTheTargetThatItCannotUse() throws Exception {
    NvmeTarget target = target(512);
    target.namespace(1).readOnly(true);
    StorageServer refused = new NvmfStorageTier().createServer(settings(target), List.of());
    IOException protectedOne =
        assertThrows(IOException.class, () -> refused.start(UUID.randomUUID()));
    assertTrue(protectedOne.getMessage().contains("write protected"), protectedOne.getMessage());
    target.namespace(1).readOnly(false);
    target.down();
    StorageServer alone = new NvmfStorageTier().createServer(settings(target), List.of());
    IOException down = assertThrows(IOException.class, () -> alone.start(UUID.randomUUID()));
    assertTrue(down.getMessage().contains(target.nqn()), down.getMessage());
    for (String bad :
        List.of("nowhere", "host:0/nqn.a", "host:1/", "host:1/nqn.a#0", "::1/nqn.a")) {
      Configuration.Builder builder = Configuration.builder();
      ConfigException refusal =
          assertThrows(
              ConfigException.class, () -> builder.set(NvmfStorageKeys.TARGETS, bad).build(), bad);
      assertTrue(refusal.getMessage().contains(bad), refusal.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 4096, 1", "0, 65536, 1", "100, 1000, 2", "4000, 5000, 5"})
  void aClientAllocatesLittle(int offset, int length, int commands) throws Exception {
    assertAllocatesAtMost(commands * MOST_ALLOCATED, endpoint(target(4096)), offset, length);
  }

  @Test
  void regionsTellWhereTheyLie() throws Exception {
    endpoint(target(4096));
    Region region = server.regions().get(0);
    assertEquals(MIB, region.address());
    assertEquals(1, region.key());
    assertEquals("- " + targets.get(0).text(), server.traits().details().toString());
  }
}

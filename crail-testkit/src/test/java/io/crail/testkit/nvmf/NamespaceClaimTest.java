/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.protocol.part.Region;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whose a namespace is: one datanode's at a time, and never foreign data's. The tests run at the
 * same time, since each has its own target and nearly all of them wait: for the least time after
 * which a datanode is taken for dead, and for how late writes may be.
 */
@Tag("once")
@Execution(ExecutionMode.CONCURRENT)
class NamespaceClaimTest {
  /** Of tests that a halt of half a second can change: they do not run beside each other. */
  private static final String HALF_A_SECOND = "half a second";

  private static final int MIB = 1 << 20;
  private static final int SECTOR = 512;

  private final List<StorageServer> servers = new ArrayList<>();
  private TargetNamespace namespace;
  private NvmeTarget target;

  /** The first start in a JVM loads hundreds of classes, for longer than a claim may take. */
  @BeforeAll
  static void loadClasses() throws Exception {
    NamespaceClaimTest first = new NamespaceClaimTest();
    first.start();
    first.started();
    first.stop();
  }

  @BeforeEach
  void start() throws Exception {
    namespace = new TargetNamespace(1, 5 * MIB / SECTOR, SECTOR);
    target = new NvmeTarget(new TargetOptions(), namespace);
  }

  @AfterEach
  void stop() throws Exception {
    servers.forEach(StorageServer::close);
    target.close();
    assertEquals(List.of(), target.complaints());
  }

  private StorageServer newServer(String... settings) {
    Configuration.Builder builder =
        Configuration.builder()
            .set(NvmfStorageKeys.TARGETS, target.text())
            // Another datanode is taken for dead after eight seconds, the least.
            .set("crail.storage.keepalive", "200ms", "test")
            .set("crail.storage.nvmf.keepalive", "4s", "test");
    for (String setting : settings) {
      String[] parts = setting.split("=", 2);
      builder.set(parts[0], parts[1], "test");
    }
    return new NvmfStorageTier().createServer(builder.build(), List.of());
  }

  private StorageServer started(String... settings) throws IOException {
    StorageServer server = newServer(settings);
    server.start(UUID.randomUUID());
    servers.add(server);
    return server;
  }

  private String refusal(String... settings) {
    return assertThrows(IOException.class, () -> newServer(settings).start(UUID.randomUUID()))
        .getMessage();
  }

  private static void awaitFailure(StorageServer server, String what) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (server.failure().isEmpty()) {
      assertTrue(System.nanoTime() - end < 0, "it does not notice");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    assertTrue(server.failure().get().contains(what), server.failure().get());
  }

  @Test
  @ResourceLock(HALF_A_SECOND)
  void aLivingDatanodeKeepsItsNamespace() throws Exception {
    StorageServer first = started();
    assertFalse(first.wasLent(0));
    String refusal = refusal();
    assertTrue(refusal.contains("namespace 1 is lent by datanode "), refusal);
    assertTrue(first.failure().isEmpty());
  }

  @Test
  void afterAnOrderlyEndTheNextOneTakesItAtOnce() throws Exception {
    StorageServer first = started("crail.storage.keepalive=60m");
    first.close();
    // For a dead one it would wait for eight hours.
    assertTrue(started("crail.storage.keepalive=60m").wasLent(0));
  }

  @Test
  void aDeadDatanodeLosesItsNamespace() throws Exception {
    StorageServer first = started();
    byte[] label = namespace.read(0, SECTOR);
    first.close();
    namespace.write(0, label);
    long before = System.nanoTime();
    assertTrue(started().wasLent(0));
    // Three keep-alive times and a second, as long as its writes may be late.
    assertTrue(System.nanoTime() - before >= TimeUnit.SECONDS.toNanos(13));
  }

  /** As of one that is stopped between its look and its sign of life. */
  @Test
  void aLateSignOfLifeReplacesNoOtherLabel() throws Exception {
    StorageServer other = started();
    final byte[] foreign = namespace.read(0, SECTOR);
    other.close();
    StorageServer server = started();
    CountDownLatch looked = new CountDownLatch(1);
    target.plan(
        (queue, opcode, number) -> {
          if (queue > 0 && opcode == 2 && looked.getCount() > 0) {
            looked.countDown();
            return Fate.SLOW;
          }
          return Fate.NORMAL;
        });
    assertTrue(looked.await(30, TimeUnit.SECONDS), "it does not look");
    // The look is executed at once, and answered a second later.
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
    namespace.write(0, foreign);
    awaitFailure(server, "was taken by datanode ");
    assertArrayEquals(foreign, namespace.read(0, SECTOR));
  }

  /** Its clients may write later than those of the next one expect. */
  @Test
  void theDrainOfALongerKeepAliveIsWaitedOut() throws Exception {
    started("crail.storage.nvmf.keepalive=5s").close();
    long before = System.nanoTime();
    started();
    assertTrue(System.nanoTime() - before >= TimeUnit.SECONDS.toNanos(3));
  }

  /** Clients of a datanode that has died see the new label, and only then stop. */
  @Test
  void theDrainOfADeadDatanodeBeginsWithTheNewLabel() throws Exception {
    StorageServer dead = started("crail.storage.nvmf.keepalive=5s");
    byte[] label = namespace.read(0, SECTOR);
    dead.close();
    namespace.write(0, label);
    CompletableFuture<Long> replaced =
        CompletableFuture.supplyAsync(
            () -> {
              long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
              while (Arrays.equals(label, namespace.read(0, SECTOR))) {
                assertTrue(System.nanoTime() - end < 0, "the label stays");
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
              }
              return System.nanoTime();
            });
    assertTrue(started().wasLent(0));
    assertTrue(System.nanoTime() - replaced.get() >= TimeUnit.SECONDS.toNanos(3));
  }

  /** Another datanode may have held it meanwhile, and lent it. */
  @Test
  void afterASlowWriteTheNamespaceMayBeKnown() throws Exception {
    AtomicBoolean slow = new AtomicBoolean(true);
    target.plan(
        (queue, opcode, number) -> {
          if (queue > 0 && opcode == 1 && slow.getAndSet(false)) {
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
          }
          return Fate.NORMAL;
        });
    assertTrue(started().wasLent(0));
  }

  /** Between the last look at a dead datanode's label and the write of the new one. */
  @Test
  @ResourceLock(HALF_A_SECOND)
  void theLastOverwriteIsKept() throws Exception {
    StorageServer dead = started();
    byte[] label = namespace.read(0, SECTOR);
    dead.close();
    namespace.write(0, label);
    long begun = System.nanoTime();
    AtomicLong before = new AtomicLong(begun);
    target.plan(
        (queue, opcode, number) -> {
          if (queue > 0 && opcode == 2) {
            long now = System.nanoTime();
            // Those before it are a second apart.
            if (now - before.getAndSet(now) < TimeUnit.MILLISECONDS.toNanos(700)
                && now - begun > TimeUnit.SECONDS.toNanos(8)) {
              namespace.write(0, new byte[SECTOR]);
            }
          }
          return Fate.NORMAL;
        });
    String refusal = refusal();
    assertTrue(refusal.contains("was overwritten"), refusal);
  }

  private void awaitBeat(StorageServer server) {
    byte[] before = namespace.read(0, SECTOR);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (Arrays.equals(before, namespace.read(0, SECTOR))) {
      assertTrue(System.nanoTime() - end < 0, "no sign of life");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
    assertTrue(server.failure().isEmpty(), server.failure().toString());
  }

  @Test
  void aNamespaceThatComesLaterChangesNothing() throws Exception {
    StorageServer server = started();
    awaitBeat(server);
    target.down();
    target.add(new TargetNamespace(2, 5 * MIB / SECTOR, SECTOR));
    target.up();
    awaitBeat(server);
    assertArrayEquals(new byte[SECTOR], target.namespace(2).read(0, SECTOR));
  }

  /** Its keep-alive goes on, so only the label tells. */
  @Test
  void aTargetThatAnswersNoAccessIsConnectedToAnew() throws Exception {
    StorageServer server = started();
    int before = target.connections();
    target.plan((queue, opcode, number) -> queue > 0 ? Fate.IGNORED : Fate.NORMAL);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (target.connections() == before) {
      assertTrue(System.nanoTime() - end < 0, "it never stops waiting");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
    target.plan((queue, opcode, number) -> Fate.NORMAL);
    awaitBeat(server);
  }

  /** There is no answer while the first few connections last; all others are answered. */
  private void ignoreFirst(int connections, int least) {
    target.plan(
        (queue, opcode, number) ->
            queue >= least && target.connections() <= connections ? Fate.IGNORED : Fate.NORMAL);
  }

  /** A device may be slow at first. */
  @Test
  @ResourceLock(HALF_A_SECOND)
  void aFirstClaimWithoutAnAnswerIsRepeated() throws Exception {
    // Each attempt has a connection for the admin queue and one for I/O.
    ignoreFirst(2, 1);
    assertFalse(started().wasLent(0));
    assertEquals(4, target.connections());
  }

  @Test
  void aFirstClaimIsNotRepeatedWithoutEnd() throws Exception {
    target.plan((queue, opcode, number) -> queue > 0 ? Fate.IGNORED : Fate.NORMAL);
    String refusal = refusal();
    assertTrue(refusal.contains("no answer to an access to the label of namespace 1"), refusal);
    assertEquals(2 * 4, target.connections());
  }

  /** A target may be slow at first too. */
  @Test
  void aFirstConnectionThatTakesTooLongIsRepeated() throws Exception {
    ignoreFirst(1, 0);
    started("crail.storage.nvmf.connecttimeout=2s");
    assertEquals(3, target.connections());
  }

  private void awaitUsable(StorageServer server, boolean usable) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (server.targets().get(target.text()) != usable) {
      assertTrue(System.nanoTime() - end < 0, "it does not say that this is " + usable);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /** The target answers connects, and has lost the device behind it. */
  @ParameterizedTest
  @EnumSource(names = {"SILENT", "FAILED"})
  void aTargetWithoutItsDeviceIsNotThereUntilItIsBack(Fate fate) throws Exception {
    StorageServer server = started();
    assertEquals(Map.of(target.text(), true), server.targets());
    target.plan((queue, opcode, number) -> queue > 0 ? fate : Fate.NORMAL);
    awaitUsable(server, false);
    // Longer than two attempts of a datanode.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(12);
    while (System.nanoTime() - end < 0) {
      assertEquals(Map.of(target.text(), false), server.targets());
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    target.plan((queue, opcode, number) -> Fate.NORMAL);
    awaitUsable(server, true);
    awaitBeat(server);
    assertEquals(Map.of(target.text(), true), server.targets());
  }

  @Test
  void aStartThatFailsGivesBackWhatItHas() throws Exception {
    target.add(new TargetNamespace(2, 5 * MIB / SECTOR, SECTOR));
    StorageServer other = started(NvmfStorageKeys.TARGETS.name() + "=" + target.text() + "#2");
    // It is refused when it has held the first one for a while.
    String refusal = refusal();
    assertTrue(refusal.contains("namespace 2 is lent"), refusal);
    other.close();
    // For one that is said to be lent it would wait for eight hours.
    assertTimeoutPreemptively(Duration.ofSeconds(60), () -> started("crail.storage.keepalive=60m"));
  }

  @Test
  void aTargetThatIsListedTwiceIsRefused() {
    String refusal =
        refusal(NvmfStorageKeys.TARGETS.name() + "=" + target.text() + "," + target.text());
    assertTrue(refusal.contains("listed twice"), refusal);
  }

  @Test
  void regionsFitIntoUnequalNamespaces() throws Exception {
    target.add(new TargetNamespace(2, 200_000_000 / SECTOR, SECTOR));
    StorageServer server =
        started(
            "crail.storage.nvmf.allocationsize=64m",
            "crail.namenode.address=localhost:1,localhost:2,localhost:3,localhost:4");
    long[] end = {MIB, MIB};
    for (Region region : server.regions()) {
      int namespace = (int) region.key() - 1;
      assertEquals(end[namespace], region.address());
      assertEquals(0, region.length() % (256 << 10), "whole blocks");
      end[namespace] += region.length();
    }
    assertEquals(5 * MIB, end[0]);
    assertTrue(end[1] > 130 * MIB && end[1] <= 200_000_000, end[1] + "");
    assertTrue(server.regions().size() >= 4, server.regions().toString());
    long longest = server.regions().stream().mapToLong(Region::length).max().orElseThrow();
    assertEquals(32 * MIB, longest, "the short namespace shortens no region of the other");
  }

  @Test
  void foreignDataAreKept() throws Exception {
    byte[] one = {1};
    for (int at : new int[] {0, 1080, MIB - 1}) {
      namespace.write(0, new byte[MIB]);
      namespace.write(at, one);
      byte[] before = namespace.read(0, MIB);
      String refusal = refusal();
      assertTrue(refusal.contains("data that are not Crail's"), refusal);
      assertTrue(refusal.contains(NvmfStorageKeys.OVERWRITE.name()), refusal);
      assertArrayEquals(before, namespace.read(0, MIB));
    }
    started(NvmfStorageKeys.OVERWRITE.name() + "=true");
  }

  /** What came after the label left it where it was. */
  @Test
  void foreignDataAfterAnOldLabelAreKept() throws Exception {
    started().close();
    byte[] one = {1};
    namespace.write(SECTOR * 8, one);
    String refusal = refusal();
    assertTrue(refusal.contains("data that are not Crail's"), refusal);
    assertArrayEquals(one, namespace.read(SECTOR * 8, 1));
    started(NvmfStorageKeys.OVERWRITE.name() + "=true").close();
    assertArrayEquals(new byte[1], namespace.read(SECTOR * 8, 1));
    started();
  }

  @Test
  void aDatanodeNoticesThatItsNamespaceIsNoMoreItsOwn() throws Exception {
    StorageServer first = started();
    byte[] label = namespace.read(0, SECTOR);
    namespace.write(0, new byte[SECTOR]);
    awaitFailure(first, "was overwritten, or has lost its data");
    StorageServer second = started();
    namespace.write(0, label);
    awaitFailure(second, "was taken by datanode ");
  }

  /** Many at the same time: one has it in the end, and all others learn of it. */
  @Test
  void oneOfSeveralAtTheSameTimeGetsIt() throws Exception {
    int several = 4;
    ExecutorService threads = Executors.newFixedThreadPool(several);
    try {
      for (int round = 0; round < 3; round++) {
        namespace.write(0, new byte[SECTOR]);
        CountDownLatch go = new CountDownLatch(1);
        List<Future<StorageServer>> all = new ArrayList<>();
        for (int i = 0; i < several; i++) {
          StorageServer server = newServer();
          all.add(
              threads.submit(
                  () -> {
                    go.await();
                    server.start(UUID.randomUUID());
                    return server;
                  }));
        }
        go.countDown();
        List<StorageServer> winners = new ArrayList<>();
        for (Future<StorageServer> each : all) {
          StorageServer winner = null;
          try {
            winner = each.get(60, TimeUnit.SECONDS);
          } catch (ExecutionException e) {
            assertTrue(e.getMessage().contains("namespace 1 "), e.getMessage());
          }
          if (winner != null) {
            winners.add(winner);
          }
        }
        servers.addAll(winners);
        assertEquals(1, winners.size());
        winners.forEach(StorageServer::close);
      }
    } finally {
      threads.shutdownNow();
    }
  }
}

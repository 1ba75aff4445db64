/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.Controller;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import io.crail.nvmf.auth.ChapSecret;
import io.crail.nvmf.auth.HostSecrets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the initiator that SPDK drives, over TCP, where its native library is. */
@Tag("once")
class SpdkTest {
  private static final int REQUEST_EVENT = 0x0c;
  private static final int KEEP_ALIVE = 0x18;

  /** No start survives these. */
  private static final Set<Fate> UNANSWERED =
      EnumSet.of(Fate.SILENT, Fate.IGNORED, Fate.CLOSE, Fate.CLOSE_WITHIN, Fate.GARBAGE);

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);

  @BeforeAll
  static void needsSpdk() {
    TestInitiators.assumePresent(TestInitiators.SPDK);
  }

  @BeforeEach
  void tellSeed() {
    System.out.println("-Dcrail.seed=" + seed);
  }

  private static NvmeTarget target(TargetOptions options) throws Exception {
    return new NvmeTarget(
        options, new TargetNamespace(1, 4096, 512), new TargetNamespace(3, 512, 4096));
  }

  private static NvmeTarget target() throws Exception {
    return target(new TargetOptions());
  }

  private static TestHost.Start start(NvmeTarget target) {
    return TestHost.Start.at(target).initiator(TestInitiators.SPDK);
  }

  @Test
  void aControllerDescribesItselfAndItsNamespaces() throws Exception {
    try (NvmeTarget target = target();
        TestHost host = new TestHost(start(target))) {
      List<NamespaceData> namespaces = host.controller().namespaces();
      assertEquals("Crail test target", host.controller().data().model());
      assertEquals(128 * 1024, host.controller().data().maxTransfer());
      assertEquals(2, namespaces.size());
      assertEquals(512, namespaces.get(0).blockLength());
      assertEquals(3, namespaces.get(1).number());
      assertEquals(4096, namespaces.get(1).blockLength());
      assertEquals(List.of(), target.complaints());
    }
  }

  /**
   * Random limits on both sides; random accesses, many at a time, to blocks of their own. SPDK
   * aligns data within a capsule only to more than the length of its header.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void movesWhatItIsAskedTo(int digests) throws Exception {
    for (int round = 0; round < 4; round++) {
      TargetOptions options =
          new TargetOptions()
              .inCapsule(16 * random.nextInt(1024))
              .maxData(4096 << random.nextInt(6))
              .alignment(random.nextBoolean() ? 4 : 128)
              .entries(2 + random.nextInt(40));
      if (random.nextBoolean()) {
        options.splitReads();
      }
      try (NvmeTarget target = target(options);
          TestHost host =
              new TestHost(
                  start(target)
                      .digests((digests & 1) != 0, (digests & 2) != 0)
                      .limits(TestHost.Start.limits(1 + random.nextInt(40), 10_000, 5_000)))) {
        host.controller();
        Moves.check(host, random, target::namespace);
        assertEquals(1, target.namespace(3).flushes());
        assertEquals(List.of(), target.complaints());
      }
    }
  }

  /** Up to the longest command. */
  @Test
  void lengthsOfAllSizesPass() throws Exception {
    try (NvmeTarget target = target();
        TestHost host = new TestHost(start(target))) {
      int longest = host.controller().data().maxTransfer();
      for (int length : new int[] {512, 4096, 16384, longest - 512, longest}) {
        ByteBuffer memory = Moves.memory(length + 1, random);
        byte[] content = Moves.bytes(memory, 1, length);
        status(NvmeStatus.OK, host.write(1, 1, length / 512, memory, 1, length));
        assertArrayEquals(content, target.namespace(1).read(512, length));
        ByteBuffer read = Moves.memory(length + 1, random);
        status(NvmeStatus.OK, host.read(1, 1, length / 512, read, 1, length));
        assertArrayEquals(content, Moves.bytes(read, 1, length));
      }
    }
  }

  @Test
  void describesARefusalOfTheTargetInWords() throws Exception {
    try (NvmeTarget target = target(new TargetOptions().allowedHost("nqn.other"))) {
      String cause = lost(start(target));
      assertTrue(cause.contains("the target does not let this host in"), cause);
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveUnit(0))) {
      refused(start(target), "has no keep-alive");
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveUnit(70))) {
      refused(start(target), "in 7000 ms");
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveTold(asked -> 0))) {
      refused(start(target), "without a limit, and was asked for 10000 ms");
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveTold(asked -> -1))) {
      refused(start(target), "for 4294967295 ms, and was asked for 10000 ms");
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveTold(asked -> asked / 2));
        TestHost host = new TestHost(start(target))) {
      host.controller();
    }
    try (NvmeTarget target = target()) {
      String cause = lost(start(target).nqn("nqn.none"));
      assertTrue(cause.contains("the target knows no such subsystem"), cause);
      assertTrue(cause.contains("nqn.none"), cause);
      refused(start(target).namespaces(1, 2), "there is no namespace 2");
      try (TestHost host = new TestHost(start(target).namespaces(3))) {
        assertEquals(3, host.controller().namespaces().get(0).number());
        ByteBuffer block = NvmeRequest.newMemory(4096);
        target.namespace(3).readOnly(true);
        status(NvmeStatus.WRITE_PROTECTED, host.write(3, 0, 1, block, 0, 4096));
        status(NvmeStatus.OUT_OF_RANGE, host.read(3, 512, 1, block, 0, 4096));
        status(NvmeStatus.INVALID_NAMESPACE, host.read(4, 0, 1, block, 0, 4096));
        status(NvmeStatus.OK, host.read(3, 4, 1, block, 0, 4096));
      }
      assertEquals(List.of(), target.complaints());
    }
  }

  private static void status(int expected, CompletableFuture<Integer> command) throws Exception {
    int status = TestHost.await(command);
    assertTrue(NvmeStatus.is(status, expected), NvmeStatus.text(status));
  }

  private static void refused(TestHost.Start start, String words) {
    try (TestHost host = new TestHost(start)) {
      CrailException refusal = assertThrows(CrailException.class, host::controller);
      assertEquals(ErrorCode.UNSUPPORTED, refusal.code());
      assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
      assertTrue(refusal.getMessage().contains(start.subsystem().nqn()), refusal.getMessage());
    }
  }

  private static String lost(TestHost.Start start) {
    try (TestHost host = new TestHost(start)) {
      return assertThrows(TestHost.Lost.class, host::controller).getMessage();
    }
  }

  @Test
  void aTargetThatIsNotThereOrSaysNothingIsLostInTime() throws Exception {
    try (NvmeTarget target = target();
        ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      TestHost.Start start = start(target).limits(TestHost.Start.limits(4, 10_000, 300));
      target.down();
      String refusal = lost(start);
      assertTrue(refusal.contains("refused"), refusal);
      InetSocketAddress address = (InetSocketAddress) silent.getLocalSocketAddress();
      long begun = System.nanoTime();
      // SPDK itself waits for 10 s for the first answer on a connection.
      assertFalse(lost(start.address(address)).isBlank());
      assertTrue(System.nanoTime() - begun < 20_000_000_000L, "noticed too late");
    }
  }

  /** In each command of the start. */
  @ParameterizedTest
  @EnumSource(Fate.class)
  void aBadStartEndsInTime(Fate fate) throws Exception {
    try (NvmeTarget target = target()) {
      TestHost.Start start = start(target).limits(TestHost.Start.limits(4, 10_000, 200));
      for (int bad = 0; bad < 16; bad += 3) {
        int number = bad;
        AtomicBoolean needed = new AtomicBoolean();
        target.plan(
            (queue, opcode, count) -> {
              if (count != number) {
                return Fate.NORMAL;
              }
              needed.compareAndSet(false, opcode != REQUEST_EVENT && opcode != KEEP_ALIVE);
              return fate;
            });
        long begun = System.nanoTime();
        try (TestHost host = new TestHost(start)) {
          host.controller();
          assertFalse(needed.get() && UNANSWERED.contains(fate), fate + " of command " + number);
        } catch (TestHost.Lost | CrailException e) {
          assertFalse(e.getMessage().isBlank());
        }
        assertTrue(System.nanoTime() - begun < 10_000_000_000L, "noticed too late");
      }
      target.plan((queue, opcode, count) -> Fate.NORMAL);
      try (TestHost host = new TestHost(start(target))) {
        host.controller();
      }
    }
  }

  @Test
  void aTargetWithoutSignsOfLifeIsLost() throws Exception {
    try (NvmeTarget target = target(new TargetOptions().keepAliveUnit(1));
        TestHost host = new TestHost(start(target).limits(TestHost.Start.limits(4, 600, 5_000)))) {
      host.controller();
      target.plan((queue, opcode, count) -> opcode == KEEP_ALIVE ? Fate.IGNORED : Fate.NORMAL);
      assertTrue(host.lost().contains("keep-alive"), host.lost());
    }
  }

  /** The answer is there, and is only read late. */
  @Test
  void aTargetIsNotLostWhenTheDriverPauses() throws Exception {
    try (NvmeTarget target = target(new TargetOptions().keepAliveUnit(1));
        TestHost host =
            new TestHost(start(target).limits(TestHost.Start.limits(4, 1_000, 5_000)))) {
      host.controller();
      Semaphore signs = new Semaphore(0);
      target.plan(
          (queue, opcode, count) -> {
            if (opcode == KEEP_ALIVE) {
              signs.release();
            }
            return Fate.NORMAL;
          });
      for (int i = 0; i < 4; i++) {
        signs.drainPermits();
        assertTrue(signs.tryAcquire(TestHost.PATIENCE_SECONDS, TimeUnit.SECONDS));
        host.loop().submit(() -> pause(700));
      }
      status(NvmeStatus.OK, host.flush(1));
      assertFalse(host.isLost());
    }
  }

  private static void pause(int millis) {
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < millis * 1_000_000L) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** SPDK answers an event with questions, and waits for their answers in the loop. */
  @Test
  void aTargetThatReportsAChangeDoesNotStopTheLoop() throws Exception {
    try (NvmeTarget target = target(new TargetOptions().keepAliveUnit(1).tellsOfChanges());
        TestHost host = new TestHost(start(target).limits(TestHost.Start.limits(4, 600, 5_000)))) {
      host.controller();
      AtomicInteger signs = new AtomicInteger();
      target.plan(
          (queue, opcode, count) -> {
            if (opcode == KEEP_ALIVE) {
              signs.incrementAndGet();
            }
            return queue == 0 && opcode != KEEP_ALIVE ? Fate.IGNORED : Fate.NORMAL;
          });
      ByteBuffer memory = NvmeRequest.newMemory(512);
      while (signs.get() < 4) {
        long begun = System.nanoTime();
        status(NvmeStatus.OK, host.read(1, 0, 1, memory, 0, 512));
        assertTrue(System.nanoTime() - begun < 500_000_000, "the loop stands still");
      }
    }
  }

  /** Also when something is wrong here. */
  @Test
  void reportsEachFailureOfAConnect() throws Exception {
    try (NvmeTarget target = target()) {
      Subsystem plain = start(target).subsystem();
      Subsystem wrong = new Subsystem(null, plain.address(), plain.nqn(), plain.host());
      String cause = lost(TestHost.Start.at(wrong).initiator(TestInitiators.SPDK));
      assertTrue(cause.contains("NullPointerException"), cause);
    }
  }

  /** A user who throws something does not keep the controller from its end. */
  @Test
  void aRequestThatFailsAtItsEndLeavesNothingBehind() throws Exception {
    try (NvmeTarget target = target();
        TestHost host = new TestHost(start(target))) {
      Controller controller = host.controller();
      CountDownLatch arrived = new CountDownLatch(1);
      target.plan(
          (queue, opcode, count) -> {
            if (queue == 1) {
              arrived.countDown();
            }
            return queue == 1 ? Fate.IGNORED : Fate.NORMAL;
          });
      host.loop()
          .submit(
              () ->
                  controller
                      .io()
                      .send(
                          new NvmeRequest() {
                            @Override
                            public void encode(ByteBuffer out, int at) {
                              NvmeCommand.flush(out, at, 1);
                            }

                            @Override
                            public void ended(int status, long result) {}

                            @Override
                            public void lost(String cause) {
                              throw new IllegalStateException("as planned");
                            }
                          }));
      assertTrue(arrived.await(TestHost.PATIENCE_SECONDS, TimeUnit.SECONDS));
      target.down();
      assertTrue(host.lost().contains("closed"), host.lost());
      CountDownLatch sweeps = new CountDownLatch(3);
      host.loop().submit(() -> host.loop().register(now -> sweeps.countDown()));
      assertTrue(sweeps.await(TestHost.PATIENCE_SECONDS, TimeUnit.SECONDS));
    }
  }

  @Test
  void requestsInFlightAreLostWhenTheTargetEnds() throws Exception {
    try (NvmeTarget target = target();
        TestHost host = new TestHost(start(target))) {
      host.controller();
      target.plan((queue, opcode, count) -> queue == 1 ? Fate.IGNORED : Fate.NORMAL);
      List<CompletableFuture<Integer>> all = begin(host, memories());
      target.down();
      for (CompletableFuture<Integer> one : all) {
        assertThrows(TestHost.Lost.class, () -> TestHost.await(one));
      }
      assertTrue(host.lost().contains("closed"), host.lost());
      target.plan((queue, opcode, count) -> Fate.NORMAL);
      target.up();
      try (TestHost next = new TestHost(start(target))) {
        next.controller();
        status(NvmeStatus.OK, next.read(1, 0, 1, NvmeRequest.newMemory(512), 0, 512));
      }
    }
  }

  private List<ByteBuffer> memories() {
    return Stream.generate(() -> Moves.memory(65536, random)).limit(8).toList();
  }

  /** Reads and writes that are under way, each of other memory. */
  private static List<CompletableFuture<Integer>> begin(TestHost host, List<ByteBuffer> memories) {
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    for (ByteBuffer memory : memories) {
      all.add(
          all.size() % 2 == 0
              ? host.read(1, 0, 128, memory, 0, 65536)
              : host.write(1, 128, 128, memory, 0, 65536));
    }
    return all;
  }

  /**
   * After the close nothing comes into the memory, and nothing leaves it. In every other round the
   * target has the first commands, and answers them after the close.
   */
  @Test
  void aCloseEndsWhatIsInFlight() throws Exception {
    for (int round = 0; round < 20; round++) {
      NvmeTarget target = target();
      CountDownLatch arrived = new CountDownLatch(1);
      Semaphore goesOn = new Semaphore(0);
      boolean held = round % 2 == 0;
      List<ByteBuffer> memories = memories();
      List<byte[]> closed = new ArrayList<>();
      try (target) {
        TestHost host = new TestHost(start(target));
        host.controller();
        if (held) {
          target.plan(
              (queue, opcode, count) -> {
                if (queue == 1) {
                  arrived.countDown();
                  goesOn.acquireUninterruptibly();
                }
                return Fate.NORMAL;
              });
        }
        List<CompletableFuture<Integer>> all = begin(host, memories);
        if (held) {
          assertTrue(arrived.await(TestHost.PATIENCE_SECONDS, TimeUnit.SECONDS));
        }
        host.close();
        for (ByteBuffer memory : memories) {
          closed.add(Moves.bytes(memory, 0, 65536));
        }
        goesOn.release(memories.size());
        for (CompletableFuture<Integer> one : all) {
          try {
            status(NvmeStatus.OK, one);
            assertFalse(held, "it has ended well without an answer");
          } catch (TestHost.Lost e) {
            assertFalse(e.getMessage().isBlank());
          }
        }
      }
      // The target's threads have ended.
      for (int i = 0; i < memories.size(); i++) {
        assertArrayEquals(closed.get(i), Moves.bytes(memories.get(i), 0, 65536));
      }
      if (held) {
        assertArrayEquals(new byte[65536], target.namespace(1).read(65536, 65536));
      }
    }
  }

  /** Each has a controller of its own, so the end of one leaves the others alone. */
  @Test
  void hostsOfOneProcessShareNothing() throws Exception {
    try (NvmeTarget target = target()) {
      List<TestHost> hosts = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        hosts.add(new TestHost(start(target)));
      }
      for (TestHost host : hosts) {
        host.controller();
      }
      for (TestHost host : hosts) {
        status(NvmeStatus.OK, host.read(1, 0, 8, NvmeRequest.newMemory(4096), 0, 4096));
        host.close();
      }
      assertEquals(List.of(), target.complaints());
    }
  }

  @Test
  void controllersMayBeMadeAgainAndAgain() throws Exception {
    try (NvmeTarget target = target()) {
      int rounds = Boolean.getBoolean("crail.test.long") ? 1000 : 50;
      for (int i = 0; i < rounds; i++) {
        try (TestHost host = new TestHost(start(target))) {
          host.controller();
          status(NvmeStatus.OK, host.flush(1));
        }
      }
    }
  }

  /** A host that has secrets would not notice that a target does not prove itself. */
  @Test
  void aHostWithSecretsIsRefused() throws Exception {
    try (NvmeTarget target = target()) {
      Subsystem plain = start(target).subsystem();
      NvmeHost host =
          plain.host().with(new HostSecrets(ChapSecret.parse(AuthenticationTest.SECRET), null));
      Subsystem secret = new Subsystem(plain.transport(), plain.address(), plain.nqn(), host);
      refused(TestHost.Start.at(secret).initiator(TestInitiators.SPDK), "does not authenticate");
    }
  }

  /**
   * DPDK takes the signal of bad memory for itself while it is loaded. A JVM that does not have it
   * back would repeat such an access without end.
   */
  @Test
  void badAccessesToMappedFilesAreStillErrorsOfJava(@TempDir Path directory) throws Exception {
    String text = child(directory, "mapping", directory.resolve("mapped").toString());
    assertTrue(text.contains("refused"), text);
    assertTrue(text.contains(SpdkChild.TOLD), text);
  }

  /** DPDK must not take away memory that a thread of SPDK still uses. */
  @Test
  void aProcessEndsWellWhileItConnects(@TempDir Path directory) throws Exception {
    int rounds = Boolean.getBoolean("crail.test.long") ? 20 : 5;
    for (int i = 0; i < rounds; i++) {
      String text = child(directory, "leave");
      assertFalse(text.contains("error"), text);
      // The JVM may begin to write of its crash, and end well before it has.
      try (Stream<Path> files = Files.list(directory)) {
        assertEquals(List.of(directory.resolve("output")), files.toList());
      }
    }
  }

  /** It is taken as it is needed, and no more than the key says. */
  @Test
  void aProcessTakesNoMoreMemoryThanItIsGiven(@TempDir Path directory) throws Exception {
    try (NvmeTarget target = target(new TargetOptions().entries(SpdkChild.DEEPEST + 1))) {
      String port = String.valueOf(target.address().getPort());
      String text = child(directory, "memory", port);
      assertTrue(text.startsWith("connected"), text);
      assertTrue(text.contains("Failed to allocate"), text);
      Matcher taken = Pattern.compile("RssShmem:\\s+(\\d+) kB").matcher(text);
      assertTrue(taken.find(), text);
      int kib = Integer.parseInt(taken.group(1));
      System.out.println(kib + " KiB");
      assertTrue(kib > 1024 && kib <= SpdkChild.MEMORY * 1024, text);
    }
  }

  /** There is one start in a process, so its values are passed to all. */
  @Test
  void reportsAFailedStartToAllWithItsReason(@TempDir Path directory) throws Exception {
    String[] lines =
        child(directory, "start")
            .lines()
            .filter(line -> line.contains("SPDK does not start"))
            .toArray(String[]::new);
    assertEquals(2, lines.length, Arrays.toString(lines));
    for (String line : lines) {
      assertTrue(line.contains("with 65536 MiB of huge pages"), line);
      assertTrue(line.contains("Failed to initialize DPDK"), line);
      assertTrue(line.contains("crail.storage.nvmf.spdk.memory"), line);
    }
  }

  /** Runs a {@link SpdkChild}, which has to end well, and gives what it prints. */
  private static String child(Path directory, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.library.path=" + System.getProperty("java.library.path"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(SpdkChild.class.getName());
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile())
            .start();
    boolean ended = process.waitFor(TestHost.PATIENCE_SECONDS, TimeUnit.SECONDS);
    process.destroyForcibly();
    String text = Files.readString(directory.resolve("output"));
    assertTrue(ended, () -> "it hangs: " + text);
    assertEquals(0, process.exitValue(), text);
    return text;
  }

  /** Another target, such as SPDK's own: -Dcrail.test.nvmf.target=host:port/nqn. */
  @Test
  void movesWhatItIsAskedToAtAnotherTarget() throws Exception {
    String given = System.getProperty("crail.test.nvmf.target", "");
    assumeTrue(!given.isEmpty(), "no target is given by crail.test.nvmf.target");
    Matcher parts = Pattern.compile("(.+):(\\d+)/(.+)").matcher(given);
    assertTrue(parts.matches(), given);
    InetSocketAddress address =
        new InetSocketAddress(parts.group(1), Integer.parseInt(parts.group(2)));
    Subsystem subsystem =
        new Subsystem(NvmeTransport.TCP, address, parts.group(3), TestHost.Start.HOST);
    for (int digests = 0; digests < 4; digests++) {
      try (TestHost host =
          new TestHost(
              TestHost.Start.at(subsystem)
                  .initiator(TestInitiators.SPDK)
                  .digests((digests & 1) != 0, (digests & 2) != 0))) {
        System.out.println(host.controller().data());
        Moves.check(host, random, number -> null);
      }
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the host of NVMe/TCP against a target that keeps to the rules, and one that does not. */
@Tag("once")
class ControllerTest {
  private static final int READ = 0x02;
  private static final int WRITE = 0x01;

  /** A write that ends so is not waited for. */
  private static final Set<Fate> UNANSWERED =
      EnumSet.of(Fate.SILENT, Fate.IGNORED, Fate.LATE, Fate.KEPT);

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);

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

  @Test
  void aControllerDescribesItselfAndItsNamespaces() throws Exception {
    try (NvmeTarget target = target();
        TestHost host = new TestHost(TestHost.Start.at(target))) {
      List<NamespaceData> namespaces = host.controller().namespaces();
      assertEquals("Crail test target", host.controller().data().model());
      assertEquals(128 * 1024, host.controller().data().maxTransfer());
      assertEquals(8192, host.controller().data().inCapsule());
      assertEquals(2, namespaces.size());
      assertEquals(512, namespaces.get(0).blockLength());
      assertEquals(4096, namespaces.get(0).blocks());
      assertEquals(3, namespaces.get(1).number());
      assertEquals(4096, namespaces.get(1).blockLength());
      assertEquals("000000000000c4a10000000000000003", namespaces.get(1).id());
      assertEquals(List.of(), target.complaints());
    }
  }

  /** Random limits on both sides; random accesses, many at a time, to blocks of their own. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void movesWhatItIsAskedTo(int digests) throws Exception {
    for (int round = 0; round < 4; round++) {
      TargetOptions options =
          new TargetOptions()
              .inCapsule(16 * random.nextInt(1024))
              .maxData(4096 << random.nextInt(6))
              .alignment(4 << random.nextInt(6))
              .entries(2 + random.nextInt(40));
      if (random.nextBoolean()) {
        options.splitReads();
      }
      if (random.nextBoolean()) {
        options.splitWrites();
      }
      try (NvmeTarget target = target(options);
          TestHost host =
              new TestHost(
                  TestHost.Start.at(target)
                      .digests((digests & 1) != 0, (digests & 2) != 0)
                      .limits(TestHost.Start.limits(1 + random.nextInt(40), 10_000, 5_000)))) {
        host.controller();
        Moves.check(host, random, target::namespace);
        assertEquals(1, target.namespace(3).flushes());
        assertEquals(List.of(), target.complaints());
      }
    }
  }

  /** Up to a command of 1 MiB. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void lengthsOfAllSizesPassWithAndWithoutChecksums(int digests) throws Exception {
    try (NvmeTarget target = target(new TargetOptions().transferShift(8));
        TestHost host =
            new TestHost(
                TestHost.Start.at(target).digests((digests & 1) != 0, (digests & 2) != 0))) {
      int longest = host.controller().data().maxTransfer();
      assertEquals(1 << 20, longest);
      for (int length : new int[] {512, 4096, 16384, longest - 512, longest}) {
        ByteBuffer memory = Moves.memory(length + 1, random);
        byte[] content = Moves.bytes(memory, 1, length);
        int status = TestHost.await(host.write(1, 1, length / 512, memory, 1, length));
        assertEquals(NvmeStatus.OK, status, NvmeStatus.text(status));
        assertArrayEquals(content, target.namespace(1).read(512, length));
        ByteBuffer read = Moves.memory(length + 1, random);
        assertEquals(NvmeStatus.OK, TestHost.await(host.read(1, 1, length / 512, read, 1, length)));
        assertArrayEquals(content, Moves.bytes(read, 1, length));
      }
    }
  }

  @Test
  void describesARefusalOfTheTargetInWords() throws Exception {
    try (NvmeTarget target = target(new TargetOptions().allowedHost("nqn.other"))) {
      String why = "does not let this host in (status 0x184); this host is ";
      refused(ErrorCode.UNSUPPORTED, TestHost.Start.at(target), why);
    }
    try (NvmeTarget target = target(new TargetOptions().digests(false, true))) {
      assertTrue(lost(TestHost.Start.at(target).digests(true, false)).contains("headerdigest"));
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveUnit(0))) {
      refused(ErrorCode.UNSUPPORTED, TestHost.Start.at(target), "has no keep-alive");
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveUnit(70))) {
      refused(ErrorCode.UNSUPPORTED, TestHost.Start.at(target), "in 7000 ms");
    }
    try (NvmeTarget target = target(new TargetOptions().strayQueues())) {
      refused(ErrorCode.PROTOCOL, TestHost.Start.at(target), "the I/O queue belongs to controller");
      assertEquals(List.of(), target.complaints());
    }
    try (NvmeTarget target = target()) {
      TestHost.Start start = TestHost.Start.at(target);
      refused(ErrorCode.UNSUPPORTED, start.nqn("nqn.none"), "it has no subsystem nqn.none");
      refused(ErrorCode.UNSUPPORTED, start.namespaces(1, 2), "there is no namespace 2");
      try (TestHost host = new TestHost(start.namespaces(3))) {
        assertEquals(3, host.controller().namespaces().get(0).number());
        ByteBuffer block = NvmeRequest.newMemory(4096);
        target.namespace(3).readOnly(true);
        status(NvmeStatus.WRITE_PROTECTED, host.write(3, 0, 1, block, 0, 4096));
        status(NvmeStatus.OUT_OF_RANGE, host.read(3, 512, 1, block, 0, 4096));
        target.namespace(3).shrink(5);
        status(NvmeStatus.OUT_OF_RANGE, host.read(3, 5, 1, block, 0, 4096));
        status(NvmeStatus.INVALID_NAMESPACE, host.read(4, 0, 1, block, 0, 4096));
        status(NvmeStatus.OK, host.read(3, 4, 1, block, 0, 4096));
      }
      assertEquals(List.of(), target.complaints());
    }
  }

  /** Space rests for a time that follows from the keep-alive time. */
  @Test
  void aTargetThatKeepsSilentHostsForLongerIsRefused() throws Exception {
    TargetOptions twice = new TargetOptions().keepAliveTold(asked -> 2 * asked);
    try (NvmeTarget target = target(twice)) {
      TestHost.Start start = TestHost.Start.at(target);
      refused(ErrorCode.UNSUPPORTED, start, "for 20000 ms, and was asked for 10000 ms");
      // One that does not say is trusted.
      target.plan((queue, opcode, count) -> opcode == 0x0a ? Fate.FAILED : Fate.NORMAL);
      try (TestHost host = new TestHost(start)) {
        host.controller();
      }
      assertEquals(List.of(), target.complaints());
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveTold(asked -> 0))) {
      refused(ErrorCode.UNSUPPORTED, TestHost.Start.at(target), "without a limit");
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveTold(asked -> -1))) {
      refused(ErrorCode.UNSUPPORTED, TestHost.Start.at(target), "for 4294967295 ms");
    }
    try (NvmeTarget target = target(new TargetOptions().keepAliveTold(asked -> asked - 1));
        TestHost host = new TestHost(TestHost.Start.at(target))) {
      host.controller();
    }
  }

  @Test
  void aListOfNamespacesThatMayGoOnIsRefused() throws Exception {
    TargetNamespace[] most = new TargetNamespace[1023];
    for (int i = 0; i < most.length; i++) {
      most[i] = new TargetNamespace(i + 1, 8, 512);
    }
    try (NvmeTarget target = new NvmeTarget(new TargetOptions(), most)) {
      TestHost.Start start = TestHost.Start.at(target);
      try (TestHost host = new TestHost(start)) {
        assertEquals(most.length, host.controller().namespaces().size());
      }
      target.add(new TargetNamespace(1024, 8, 512));
      refused(ErrorCode.LIMIT_EXCEEDED, start, "has 1024 namespaces or more");
      try (TestHost host = new TestHost(start.namespaces(1024))) {
        assertEquals(1024, host.controller().namespaces().get(0).number());
      }
    }
  }

  private static void status(int expected, CompletableFuture<Integer> command) throws Exception {
    int status = TestHost.await(command);
    assertTrue(NvmeStatus.is(status, expected), NvmeStatus.text(status));
  }

  private static void refused(ErrorCode code, TestHost.Start start, String words) {
    try (TestHost host = new TestHost(start)) {
      CrailException refusal = assertThrows(CrailException.class, host::controller);
      assertEquals(code, refusal.code());
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
      TestHost.Start start =
          TestHost.Start.at(target).limits(TestHost.Start.limits(4, 10_000, 300));
      target.down();
      assertTrue(lost(start).contains("refused"), lost(start));
      InetSocketAddress address = (InetSocketAddress) silent.getLocalSocketAddress();
      assertTrue(lost(start.address(address)).contains("in time"));
    }
  }

  /** In each command of the start. */
  @ParameterizedTest
  @EnumSource(Fate.class)
  void aBadStartEndsInTime(Fate fate) throws Exception {
    try (NvmeTarget target = target()) {
      TestHost.Start start =
          TestHost.Start.at(target).limits(TestHost.Start.limits(4, 10_000, 200));
      for (int bad = 0; bad < 10; bad++) {
        int number = bad;
        target.plan((queue, opcode, count) -> count == number ? fate : Fate.NORMAL);
        try (TestHost host = new TestHost(start)) {
          host.controller();
        } catch (TestHost.Lost | CrailException e) {
          assertFalse(e.getMessage().isBlank());
        }
      }
      target.plan((queue, opcode, count) -> Fate.NORMAL);
      try (TestHost host = new TestHost(TestHost.Start.at(target))) {
        host.controller();
      }
    }
  }

  /** A read that goes wrong never ends well with other bytes. */
  @ParameterizedTest
  @EnumSource(Fate.class)
  void aBadAnswerNeverPassesForAGoodOne(Fate fate) throws Exception {
    try (NvmeTarget target = target()) {
      for (int length : new int[] {512, 8192, 65536}) {
        byte[] content = new byte[length];
        random.nextBytes(content);
        target.namespace(1).write(0, content);
        target.plan(
            (queue, opcode, count) ->
                queue == 1 && opcode == READ && count == 2 ? fate : Fate.NORMAL);
        try (TestHost host = new TestHost(TestHost.Start.at(target).digests(true, true))) {
          host.controller();
          List<CompletableFuture<Integer>> reads = new ArrayList<>();
          List<ByteBuffer> memories = new ArrayList<>();
          for (int i = 0; i < 4; i++) {
            ByteBuffer memory = Moves.memory(length, random);
            memories.add(memory);
            reads.add(host.read(1, 0, length / 512, memory, 0, length));
          }
          // A reset takes earlier answers with it.
          boolean resets = fate == Fate.CLOSE || fate == Fate.CLOSE_WITHIN;
          boolean answers = fate != Fate.SILENT && fate != Fate.IGNORED;
          for (int i = 0; i < 4; i++) {
            if (i == 1 && !answers) {
              continue;
            }
            boolean well = endsWell(reads.get(i));
            if (well) {
              assertArrayEquals(content, Moves.bytes(memories.get(i), 0, length), fate + " " + i);
            }
            assertTrue(well || i > 0 || resets, fate + " harms the read before it");
          }
          if (!answers) {
            assertFalse(reads.get(1).isDone());
          }
        }
      }
    }
  }

  /** Whatever ends well has been executed. */
  @ParameterizedTest
  @EnumSource(Fate.class)
  void aWriteThatEndsWellWasExecuted(Fate fate) throws Exception {
    try (NvmeTarget target = target()) {
      for (int length : new int[] {512, 65536}) {
        target.plan(
            (queue, opcode, count) ->
                queue == 1 && opcode == WRITE && count == 3 ? fate : Fate.NORMAL);
        try (TestHost host = new TestHost(TestHost.Start.at(target))) {
          host.controller();
          for (int i = 0; i < 40 && !host.isLost(); i++) {
            ByteBuffer memory = Moves.memory(length, random);
            CompletableFuture<Integer> write = host.write(1, 8, length / 512, memory, 0, length);
            boolean last = i == 2 && UNANSWERED.contains(fate);
            if (last || !endsWell(write)) {
              continue;
            }
            // A late one is executed over the next one. Data that went along are not needed early.
            boolean lies =
                fate == Fate.LATE && i == 3 || fate == Fate.EARLY && i == 2 && length == 512;
            if (!lies) {
              assertArrayEquals(
                  Moves.bytes(memory, 0, length),
                  target.namespace(1).read(4096, length),
                  fate + " " + i);
            }
          }
        }
      }
    }
  }

  private static boolean endsWell(CompletableFuture<Integer> command) throws Exception {
    try {
      return TestHost.await(command) == NvmeStatus.OK;
    } catch (TestHost.Lost e) {
      return false;
    }
  }

  @Test
  void aTargetWithoutSignsOfLifeIsLost() throws Exception {
    try (NvmeTarget target = target(new TargetOptions().keepAliveUnit(1))) {
      TestHost.Start start = TestHost.Start.at(target).limits(TestHost.Start.limits(4, 600, 5_000));
      try (TestHost host = new TestHost(start)) {
        host.controller();
        target.plan((queue, opcode, count) -> opcode == 0x18 ? Fate.IGNORED : Fate.NORMAL);
        assertTrue(host.lost().contains("keep-alive"), host.lost());
      }
    }
  }

  @Test
  void requestsInFlightAreLostWhenTheTargetEnds() throws Exception {
    try (NvmeTarget target = target();
        TestHost host = new TestHost(TestHost.Start.at(target))) {
      host.controller();
      target.plan((queue, opcode, count) -> queue == 1 ? Fate.IGNORED : Fate.NORMAL);
      CompletableFuture<Integer> read = host.read(1, 0, 1, NvmeRequest.newMemory(512), 0, 512);
      target.down();
      assertThrows(TestHost.Lost.class, () -> TestHost.await(read));
      assertTrue(host.lost().contains("closed"), host.lost());
      target.plan((queue, opcode, count) -> Fate.NORMAL);
      target.up();
      try (TestHost next = new TestHost(TestHost.Start.at(target))) {
        next.controller();
        status(NvmeStatus.OK, next.read(1, 0, 1, NvmeRequest.newMemory(512), 0, 512));
      }
    }
  }

  @Test
  void theIdentityOfAHostBelongsToItsName() {
    String form = "nqn.2014-08.org.nvmexpress:uuid:9e4ba7c4-7b9e-4c4e-9a0c-0f5e8d1c2b3a";
    assertEquals("9e4ba7c4-7b9e-4c4e-9a0c-0f5e8d1c2b3a", NvmeHost.named(form).id().toString());
    assertEquals(NvmeHost.named("nqn.a"), NvmeHost.named("nqn.a"));
    assertFalse(NvmeHost.named("nqn.a").id().equals(NvmeHost.named("nqn.b").id()));
  }
}

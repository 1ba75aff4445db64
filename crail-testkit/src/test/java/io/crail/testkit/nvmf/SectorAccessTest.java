/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.nvmf.NvmeStatus;
import io.crail.rpc.netty.NettyKeys;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that any bytes can be read and written on sectors, against a model. */
@Tag("once")
class SectorAccessTest {
  private static final int BYTES = 256 * 1024;
  private static final int READ = 0x02;
  private static final int WRITE = 0x01;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);

  @BeforeEach
  void tellSeed() {
    System.out.println("-Dcrail.seed=" + seed);
  }

  /** A range of bytes that one writer has; neighbours may share a sector. */
  private record Range(int position, int length) {}

  private List<Range> ranges() {
    List<Range> ranges = new ArrayList<>();
    int position = random.nextInt(5000);
    while (position < BYTES) {
      int longest = random.nextInt(4) == 0 ? 60_000 : random.nextInt(3) == 0 ? 9000 : 700;
      int length = Math.min(1 + random.nextInt(longest), BYTES - position);
      ranges.add(new Range(position, length));
      position += length + (random.nextBoolean() ? 0 : random.nextInt(3000));
    }
    return ranges;
  }

  @ParameterizedTest
  @CsvSource({"512, AUTO", "4096, AUTO", "512, NIO", "4096, NIO"})
  void readsAndWritesAnyBytes(int sector, NettyKeys.Io io) throws Exception {
    for (int depth : new int[] {1, 2, 7, 32}) {
      TargetNamespace namespace = new TargetNamespace(1, BYTES / sector, sector);
      byte[] model = new byte[BYTES];
      random.nextBytes(model);
      namespace.write(0, model);
      try (NvmeTarget target = new NvmeTarget(new TargetOptions().transferShift(2), namespace);
          ByteHost host = new ByteHost(target, depth, io)) {
        for (int round = 0; round < 6; round++) {
          write(host, model);
          assertArrayEquals(model, namespace.read(0, BYTES), "something else was written");
          read(host, model);
        }
        assertEquals(List.of(), target.complaints());
      }
    }
  }

  private void write(ByteHost host, byte[] model) throws Exception {
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    List<Range> ranges = ranges();
    Collections.shuffle(ranges, random);
    for (Range range : ranges) {
      int offset = random.nextInt(100);
      ByteBuffer memory = Moves.memory(offset + range.length(), random);
      memory.get(offset, model, range.position(), range.length());
      all.add(host.begin(true, memory, offset, range.length(), range.position()));
    }
    for (CompletableFuture<Integer> one : all) {
      assertEquals(NvmeStatus.OK, TestHost.await(one));
    }
  }

  private void read(ByteHost host, byte[] model) throws Exception {
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    List<Range> ranges = ranges();
    List<ByteBuffer> memories = new ArrayList<>();
    for (Range range : ranges) {
      ByteBuffer memory = Moves.memory(range.length() + 2, random);
      memory.put(0, (byte) 1).put(range.length() + 1, (byte) 2);
      memories.add(memory);
      all.add(host.begin(false, memory, 1, range.length(), range.position()));
    }
    for (int i = 0; i < all.size(); i++) {
      Range range = ranges.get(i);
      assertEquals(NvmeStatus.OK, TestHost.await(all.get(i)));
      assertArrayEquals(
          Arrays.copyOfRange(model, range.position(), range.position() + range.length()),
          Moves.bytes(memories.get(i), 1, range.length()));
      assertArrayEquals(new byte[] {1}, Moves.bytes(memories.get(i), 0, 1));
      assertArrayEquals(new byte[] {2}, Moves.bytes(memories.get(i), range.length() + 1, 1));
    }
  }

  /** Appends of a few bytes each, all at once: none gets lost, whichever way they are joined. */
  @Test
  void appendsToOneSectorGoTogether() throws Exception {
    TargetNamespace namespace = new TargetNamespace(1, 64, 4096);
    byte[] model = new byte[64 * 4096];
    try (NvmeTarget target = new NvmeTarget(new TargetOptions(), namespace);
        ByteHost host = new ByteHost(target, 8)) {
      List<CompletableFuture<Integer>> all = new ArrayList<>();
      for (int at = 0; at < 3 * 4096; ) {
        int length = 1 + random.nextInt(40);
        ByteBuffer memory = Moves.memory(length, random);
        memory.get(0, model, at, length);
        all.add(host.begin(true, memory, 0, length, at));
        at += length;
      }
      for (CompletableFuture<Integer> one : all) {
        assertEquals(NvmeStatus.OK, TestHost.await(one));
      }
      assertArrayEquals(model, namespace.read(0, model.length));
    }
  }

  /**
   * A write of a part reads its sector. It must not bring back what was there before a whole one.
   */
  @Test
  void aPartDoesNotUndoTheWhole() throws Exception {
    TargetNamespace namespace = new TargetNamespace(1, 64, 4096);
    try (NvmeTarget target = new NvmeTarget(new TargetOptions(), namespace);
        ByteHost host = new ByteHost(target, 8)) {
      // Some writes are executed after the command that comes next.
      target.plan(
          (queue, command, count) ->
              queue == 1 && command == WRITE && count % 4 == 1 ? Fate.LATE : Fate.NORMAL);
      for (int round = 0; round < 40; round++) {
        ByteBuffer whole = Moves.memory(3 * 4096, random);
        ByteBuffer part = Moves.memory(100, random);
        CompletableFuture<Integer> first = host.begin(true, whole, 0, 3 * 4096, 4096);
        CompletableFuture<Integer> second = host.begin(true, part, 0, 100, 2 * 4096 + 50);
        assertEquals(NvmeStatus.OK, TestHost.await(first));
        assertEquals(NvmeStatus.OK, TestHost.await(second));
        byte[] expected = Moves.bytes(whole, 0, 3 * 4096);
        System.arraycopy(Moves.bytes(part, 0, 100), 0, expected, 4096 + 50, 100);
        assertArrayEquals(expected, namespace.read(4096, 3 * 4096), "round " + round);
      }
    }
  }

  /** A failure is reported, and harms no byte beside it. */
  @Test
  void aFailedCommandHarmsNoOtherByte() throws Exception {
    TargetNamespace namespace = new TargetNamespace(1, 64, 4096);
    byte[] model = new byte[64 * 4096];
    random.nextBytes(model);
    namespace.write(0, model);
    try (NvmeTarget target = new NvmeTarget(new TargetOptions(), namespace);
        ByteHost host = new ByteHost(target, 8)) {
      for (int opcode : new int[] {READ, WRITE}) {
        target.plan(
            (queue, command, count) -> queue == 1 && command == opcode ? Fate.FAILED : Fate.NORMAL);
        ByteBuffer memory = Moves.memory(20_000, random);
        CompletableFuture<Integer> write = host.begin(true, memory, 0, 20_000, 100);
        assertTrue(NvmeStatus.is(TestHost.await(write), 0x006));
        target.plan((queue, command, count) -> Fate.NORMAL);
        byte[] now = namespace.read(0, model.length);
        assertArrayEquals(Arrays.copyOf(model, 100), Arrays.copyOf(now, 100));
        assertArrayEquals(
            Arrays.copyOfRange(model, 20_100, model.length),
            Arrays.copyOfRange(now, 20_100, model.length));
        assertEquals(NvmeStatus.OK, TestHost.await(host.begin(true, memory, 0, 20_000, 100)));
        memory.get(0, model, 100, 20_000);
        assertArrayEquals(model, namespace.read(0, model.length));
      }
    }
  }

  @Test
  void requestsInFlightAreLostWhenTheTargetEnds() throws Exception {
    TargetNamespace namespace = new TargetNamespace(1, 512, 512);
    try (NvmeTarget target = new NvmeTarget(new TargetOptions(), namespace);
        ByteHost host = new ByteHost(target, 2)) {
      target.plan((queue, command, count) -> queue == 1 && count > 4 ? Fate.IGNORED : Fate.NORMAL);
      List<CompletableFuture<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        ByteBuffer memory = Moves.memory(3000, random);
        all.add(host.begin(i % 2 == 0, memory, 0, 3000, i * 3000L));
      }
      host.awaitSilence();
      target.cut();
      int lost = 0;
      for (CompletableFuture<Integer> one : all) {
        try {
          assertEquals(NvmeStatus.OK, TestHost.await(one));
        } catch (TestHost.Lost e) {
          lost++;
        }
      }
      assertTrue(lost > 10, lost + " were lost");
      assertThrows(
          TestHost.Lost.class,
          () -> TestHost.await(host.begin(false, Moves.memory(1, random), 0, 1, 0)));
    }
  }
}

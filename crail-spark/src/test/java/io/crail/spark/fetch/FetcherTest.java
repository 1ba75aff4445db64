/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static io.crail.spark.fetch.MapOutputs.HOST;
import static io.crail.spark.fetch.MapOutputs.MIB;
import static io.crail.spark.fetch.MapOutputs.bytes;
import static io.crail.spark.fetch.MapOutputs.fetch;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.UnavailableException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.fetch.MapOutputs.Results;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FetcherTest {
  private MapOutputs outputs;

  @BeforeEach
  void start() throws Exception {
    outputs = new MapOutputs(EmbeddedCrail.builder());
  }

  @AfterEach
  void stop() throws Exception {
    outputs.close();
  }

  @Test
  void everyRangeOfPartitionsHasTheBytesOfAllRuns() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    Map<OutputId, byte[][]> model = new HashMap<>();
    for (int map = 0; map < 40; map++) {
      byte[][][] runs = new byte[1 + random.nextInt(3)][20][];
      for (byte[][] run : runs) {
        Arrays.setAll(
            run, i -> bytes(random, random.nextInt(4) == 0 ? 0 : random.nextInt(100_000)));
      }
      OutputId id = new OutputId(3, map);
      model.put(id, outputs.write(id, "a", runs));
    }
    // The second cache has room for a few indexes only.
    for (long cache : new long[] {64L * MIB, 2000}) {
      try (Fetcher fetcher = outputs.fetcher(cache, Duration.ZERO)) {
        List<BlockRange> blocks = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
          int from = random.nextInt(20);
          int to = from + 1 + random.nextInt(20 - from);
          blocks.add(new BlockRange("b" + i, new OutputId(3, random.nextInt(40)), from, to));
        }
        Map<String, Object> results = fetch(fetcher, blocks);
        for (BlockRange block : blocks) {
          assertArrayEquals(
              expected(model.get(block.output()), block, 20),
              sorted(results.get(block.name()), block),
              block.toString());
        }
      }
    }
  }

  /** The bytes of a range; runs may come in any order within it, so they are sorted. */
  private static byte[] expected(byte[][] partitions, BlockRange block, int count) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = block.from(); i < block.to(); i++) {
      all.writeBytes(partitions[i]);
    }
    return sorted(all.toByteArray(), block);
  }

  private static byte[] sorted(Object result, BlockRange block) {
    byte[] bytes = assertInstanceOf(byte[].class, result, block.toString()).clone();
    if (block.to() - block.from() > 1) {
      Arrays.sort(bytes);
    }
    return bytes;
  }

  @Test
  void aBlockThatIsTooLargeForMemoryIsReadAsItComes() throws Exception {
    OutputId id = new OutputId(1, 1);
    Random random = new Random(1);
    byte[][] model =
        outputs.write(
            id,
            "a",
            new byte[][][] {
              {bytes(random, 10), bytes(random, 12 * MIB), bytes(random, 3)},
              {new byte[0], bytes(random, 5 * MIB), new byte[0]}
            });
    try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ZERO)) {
      Map<String, Object> results =
          fetch(
              fetcher,
              List.of(new BlockRange("large", id, 1, 2), new BlockRange("small", id, 2, 3)));
      assertArrayEquals(model[1], (byte[]) results.get("large"));
      assertArrayEquals(model[2], (byte[]) results.get("small"));
    }
  }

  @Test
  void theSecondAttemptToSealLosesAndLearnsTheFirstOne() throws Exception {
    OutputId id = new OutputId(1, 2);
    byte[][] model = outputs.write(id, "first", new byte[][][] {{{1}, {2, 3}}});
    try (OutputWriter writer = new OutputWriter(outputs.place, id, "second", 2)) {
      writer.beginPartition(1);
      writer.write(new byte[] {9, 9, 9, 9}, 0, 4);
      writer.endPartition();
      assertArrayEquals(new long[] {1, 2}, writer.seal().index().lengths());
    }
    assertNull(outputs.store.lookup(outputs.place.path(id) + ".second").get());
    try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ZERO)) {
      assertArrayEquals(
          model[1], (byte[]) fetch(fetcher, List.of(new BlockRange("b", id, 1, 2))).get("b"));
    }
  }

  @Test
  void anOutputThatWasNotSealedIsDeleted() throws Exception {
    OutputId id = new OutputId(1, 3);
    try (OutputWriter writer = new OutputWriter(outputs.place, id, "a", 1)) {
      writer.beginPartition(0);
      writer.write(new byte[100], 0, 100);
    }
    assertNull(outputs.store.lookup(outputs.place.path(id) + ".a").get());
    assertNull(outputs.store.lookup(outputs.place.path(id)).get());
  }

  @Test
  void aListenerThatFailsHearsOfEachBlockAllTheSame() throws Exception {
    OutputId id = new OutputId(1, 5);
    outputs.write(id, "a", new byte[][][] {{{1}, {2}, {3}}});
    List<BlockRange> blocks =
        List.of(
            new BlockRange("0", id, 0, 1),
            new BlockRange("1", id, 1, 2),
            new BlockRange("2", id, 2, 3));
    Results results = new Results(3);
    try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ZERO)) {
      fetcher.fetch(
          HOST,
          blocks,
          new BlockListener() {
            @Override
            public void fetched(BlockRange block, BlockData data) {
              if (block.name().equals("1")) {
                data.release();
                throw new IllegalStateException("for a test");
              }
              results.fetched(block, data);
            }

            @Override
            public void failed(BlockRange block, Exception cause) {
              results.failed(block, cause);
            }
          });
      results.await();
    }
    assertInstanceOf(byte[].class, results.all.get("0"));
    assertInstanceOf(IllegalStateException.class, results.all.get("1"));
    assertInstanceOf(byte[].class, results.all.get("2"));
  }

  @Test
  void aLargeBlockThatIsReleasedHoldsNoStream() throws Exception {
    OutputId id = new OutputId(1, 6);
    outputs.write(id, "a", new byte[][][] {{new byte[9 * MIB]}});
    CompletableFuture<BlockData> large = new CompletableFuture<>();
    try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ZERO)) {
      fetcher.fetch(
          HOST,
          List.of(new BlockRange("0", id, 0, 1)),
          new BlockListener() {
            @Override
            public void fetched(BlockRange block, BlockData data) {
              large.complete(data);
            }

            @Override
            public void failed(BlockRange block, Exception cause) {
              large.completeExceptionally(cause);
            }
          });
      BlockData data = large.get(60, TimeUnit.SECONDS);
      InputStream in = data.open();
      assertEquals(0, in.read());
      // Spark releases the block, and does not close a stream that it has not read to its end.
      data.release();
      assertThrows(IOException.class, in::readAllBytes);
      outputs.store.delete(outputs.place.path(id), false).get();
      try (InputStream unread = data.open()) {
        assertEquals(0, unread.available());
      }
      data.release();
    }
  }

  /** What is no error of the store counts as one of this executor, and fails the task at once. */
  @Test
  void aNamenodeThatIsAwayIsNoDefectOfTheExecutor() throws Exception {
    OutputId id = new OutputId(1, 7);
    outputs.write(id, "a", new byte[][][] {{new byte[100]}});
    outputs.cluster.close();
    List<BlockRange> blocks = List.of(new BlockRange("block", id, 0, 1));
    try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ZERO)) {
      assertInstanceOf(UnavailableException.class, fetch(fetcher, blocks).get("block"));
    }
  }

  @Test
  void aMissingOutputIsNotAnEmptyOne() throws Exception {
    try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ofSeconds(30))) {
      Object result =
          fetch(fetcher, List.of(new BlockRange("b", new OutputId(1, 99), 0, 1))).get("b");
      assertInstanceOf(NodeNotFoundException.class, result);
    }
  }

  @Test
  void aWrongByteIsFoundWhereverItIs() throws Exception {
    OutputId id = new OutputId(1, 4);
    Random random = new Random(4);
    outputs.write(id, "a", new byte[][][] {{bytes(random, 1000), bytes(random, 9 * MIB), {5}}});
    String path = outputs.place.path(id);
    byte[] file = outputs.file(id);
    for (int at : new int[] {0, 999, 1000, 8 * MIB, file.length - 1}) {
      byte[] wrong = file.clone();
      wrong[at] ^= 1;
      outputs.store.delete(path, false).get();
      CrailFile node =
          outputs
              .store
              .create(
                  path,
                  CrailNodeType.DATAFILE,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  true)
              .get()
              .asFile();
      try (CrailBufferedOutputStream out = node.getBufferedOutputStream(0)) {
        out.write(wrong);
      }
      try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ofSeconds(30))) {
        Map<String, Object> results =
            fetch(
                fetcher,
                List.of(
                    new BlockRange("0", id, 0, 1),
                    new BlockRange("1", id, 1, 2),
                    new BlockRange("2", id, 2, 3)));
        boolean index = at == file.length - 1;
        check(index || at < 1000, results.get("0"), at);
        check(index || at >= 1000, results.get("1"), at);
        check(index, results.get("2"), at);
      }
    }
  }

  private static void check(boolean wrong, Object result, int at) {
    Class<?> expected = wrong ? CorruptOutputException.class : byte[].class;
    assertInstanceOf(expected, result, "byte " + at);
  }
}

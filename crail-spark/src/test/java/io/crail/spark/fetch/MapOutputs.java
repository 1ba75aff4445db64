/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputPlace;
import io.crail.spark.output.OutputWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A cluster of Crail for map outputs, and what tests do with them. */
final class MapOutputs implements AutoCloseable {
  static final int MIB = 1 << 20;
  static final String HOST = "crail-a";

  final EmbeddedCrail cluster;
  final CrailStore store;
  final OutputPlace place;

  MapOutputs(EmbeddedCrail.Builder builder) throws Exception {
    cluster = builder.storage(256L * MIB).start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    place = place(store);
    place.createRoots();
    place.createShuffle(1);
    place.createShuffle(3);
  }

  /** The same place, as another store sees it. */
  static OutputPlace place(CrailStore store) {
    return new OutputPlace(
        store,
        List.of("/app"),
        CrailStorageClass.DEFAULT,
        CrailLocationClass.DEFAULT,
        Duration.ofDays(1));
  }

  @Override
  public void close() throws Exception {
    store.close();
    cluster.close();
  }

  static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Writes an output of some runs; returns the bytes of each partition. */
  byte[][] write(OutputId id, String attempt, byte[][][] runs) throws IOException {
    int partitions = runs[0].length;
    ByteArrayOutputStream[] model = new ByteArrayOutputStream[partitions];
    Arrays.setAll(model, i -> new ByteArrayOutputStream());
    try (OutputWriter writer = new OutputWriter(place, id, attempt, partitions)) {
      for (byte[][] run : runs) {
        for (int i = 0; i < partitions; i++) {
          if (run[i].length > 0) {
            writer.beginPartition(i);
            writer.write(run[i], 0, run[i].length);
            assertEquals(run[i].length, writer.endPartition());
            model[i].write(run[i]);
          }
        }
        writer.endRun();
      }
      writer.seal();
    }
    return Arrays.stream(model).map(ByteArrayOutputStream::toByteArray).toArray(byte[][]::new);
  }

  MapOutput open(OutputId id) throws IOException {
    return MapOutput.open(store, place.path(id), id);
  }

  /** All bytes of an output's file. */
  byte[] file(OutputId id) throws Exception {
    try (CrailBufferedInputStream in =
        store.lookup(place.path(id)).get().asFile().getBufferedInputStream(0)) {
      return in.readAllBytes();
    }
  }

  Fetcher fetcher(long indexCacheBytes, Duration patience) {
    return new Fetcher(place, new Fetcher.Limits(2, 64L * MIB, indexCacheBytes, patience));
  }

  static Map<String, Object> fetch(Fetcher fetcher, List<BlockRange> blocks)
      throws InterruptedException {
    Results results = new Results(blocks.size());
    fetcher.fetch(HOST, blocks, results);
    results.await();
    return results.all;
  }

  /** Waits for what another thread does. */
  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, what);
      Thread.sleep(5);
    }
  }

  /** What came of each block, by its name. */
  static class Results implements BlockListener {
    final Map<String, Object> all = new ConcurrentHashMap<>();
    final CountDownLatch left;

    Results(int count) {
      left = new CountDownLatch(count);
    }

    void await() throws InterruptedException {
      assertTrue(left.await(60, TimeUnit.SECONDS));
    }

    @Override
    public void fetched(BlockRange block, BlockData data) {
      try (InputStream in = data.open()) {
        byte[] bytes = in.readAllBytes();
        assertEquals(data.length(), bytes.length);
        put(block, bytes);
      } catch (IOException e) {
        put(block, e);
      } finally {
        data.release();
      }
    }

    @Override
    public void failed(BlockRange block, Exception cause) {
      put(block, cause);
    }

    final void put(BlockRange block, Object result) {
      assertNull(all.put(block.name(), result));
      left.countDown();
    }
  }
}

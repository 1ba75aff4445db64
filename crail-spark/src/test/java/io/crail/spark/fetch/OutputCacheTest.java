/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static io.crail.spark.fetch.MapOutputs.MIB;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailStore;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.LimitExceededException;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.fetch.OutputCache.Opened;
import io.crail.spark.output.OutputId;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("once")
class OutputCacheTest {
  private static final Duration WAIT = Duration.ofSeconds(60);
  private static final int PARTITIONS = 2000;

  private static long directBuffers() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getCount)
        .sum();
  }

  /** With memory of the fetcher, and when blocks have all of that. */
  @ParameterizedTest
  @ValueSource(ints = {4 * MIB, 0})
  void indexesAreReadIntoMemoryOfTheStore(int memoryBytes) throws Exception {
    try (MapOutputs outputs = new MapOutputs(EmbeddedCrail.builder().mapped(false))) {
      byte[][] run = new byte[PARTITIONS][0];
      run[7] = new byte[] {1, 2, 3};
      List<OutputId> ids = new ArrayList<>();
      for (int map = 0; map < 100; map++) {
        ids.add(new OutputId(1, map));
        outputs.write(ids.get(map), "a", new byte[][][] {run});
      }
      try (FetchMemory memory = new FetchMemory(outputs.store, memoryBytes)) {
        OutputCache cache = new OutputCache(outputs.place, memory, 64L * MIB, WAIT);
        // Connections and buffers are there after the first one.
        cache.open(ids.subList(0, 1));
        long before = directBuffers();
        Map<OutputId, Opened> opened = cache.open(ids);
        long after = directBuffers();
        assertTrue(after - before < 20, (after - before) + " direct buffers");
        long[] lengths = new long[PARTITIONS];
        lengths[7] = 3;
        for (OutputId id : ids) {
          assertNull(opened.get(id).failure());
          assertArrayEquals(lengths, opened.get(id).output().index().lengths());
        }
        assertEquals(
            Math.min(memoryBytes, MIB), memory.lentBytes(), "all but the buffer at hand went back");
      }
    }
  }

  /** An index of several buffers, which no guess has predicted. */
  @Test
  void anIndexMayBeLargerThanABuffer() throws Exception {
    EmbeddedCrail.Builder builder =
        EmbeddedCrail.builder().set("crail.buffersize", "4k").set("crail.slicesize", "2k");
    try (MapOutputs outputs = new MapOutputs(builder);
        FetchMemory memory = new FetchMemory(outputs.store, MIB)) {
      byte[][] run = new byte[PARTITIONS][];
      Arrays.setAll(run, i -> new byte[] {(byte) i});
      OutputId id = new OutputId(1, 1);
      outputs.write(id, "a", new byte[][][] {run, run});
      OutputCache cache = new OutputCache(outputs.place, memory, 64L * MIB, WAIT);
      Opened opened = cache.open(List.of(id)).get(id);
      assertEquals(2L * PARTITIONS, opened.output().index().length(0, PARTITIONS));
    }
  }

  /** When all buffers are lent, also those that are not shared. */
  @Test
  void anIndexWaitsForABuffer() throws Exception {
    EmbeddedCrail.Builder builder =
        EmbeddedCrail.builder().mapped(false).set("crail.cachelimit", "4m");
    try (MapOutputs outputs = new MapOutputs(builder)) {
      OutputId id = new OutputId(1, 1);
      outputs.write(id, "a", new byte[][][] {{{1}, {2, 3}}});
      List<CrailBuffer> buffers = new ArrayList<>();
      assertThrows(
          LimitExceededException.class,
          () -> {
            while (true) {
              buffers.add(outputs.store.allocateBuffer());
            }
          });
      CountDownLatch paused = new CountDownLatch(1);
      CountDownLatch freed = new CountDownLatch(1);
      FetchTime time =
          new FetchTime() {
            @Override
            public long nanoTime() {
              return 0;
            }

            @Override
            public void pause() throws InterruptedException {
              paused.countDown();
              freed.await();
            }
          };
      Fetcher.Limits limits = new Fetcher.Limits(1, 2L * MIB, MIB, Duration.ofSeconds(1));
      try (Fetcher fetcher = new Fetcher(outputs.place, limits, time)) {
        MapOutputs.Results results = new MapOutputs.Results(1);
        fetcher.fetch(MapOutputs.HOST, List.of(new BlockRange("b", id, 1, 2)), results);
        assertTrue(paused.await(60, TimeUnit.SECONDS));
        assertEquals(Map.of(), results.all);
        for (CrailBuffer buffer : buffers) {
          outputs.store.freeBuffer(buffer);
        }
        freed.countDown();
        results.await();
        assertArrayEquals(new byte[] {2, 3}, (byte[]) results.all.get("b"));
      }
    }
  }

  /** A namenode that says nothing. */
  @Test
  void aThreadDoesNotWaitForeverForTheOpeningOfAnother() throws Exception {
    InetAddress local = InetAddress.getLoopbackAddress();
    try (ServerSocket server = new ServerSocket(0, 10, local)) {
      CrailConfiguration configuration = new CrailConfiguration();
      configuration.set(
          "crail.namenode.address",
          "crail://" + local.getHostAddress() + ':' + server.getLocalPort());
      configuration.set("crail.rpctimeout", "2000");
      try (CrailStore store = CrailStore.newInstance(configuration);
          FetchMemory memory = new FetchMemory(store, MIB)) {
        OutputCache cache =
            new OutputCache(MapOutputs.place(store), memory, MIB, Duration.ofMillis(100));
        OutputId id = new OutputId(1, 1);
        FutureTask<Map<OutputId, Opened>> first = new FutureTask<>(() -> cache.open(List.of(id)));
        new Thread(first).start();
        try (Socket connection = server.accept()) {
          Exception failure = cache.open(List.of(id)).get(id).failure();
          assertInstanceOf(CrailTimeoutException.class, failure);
          assertTrue(failure.getMessage().contains("another thread"), failure.getMessage());
          assertTrue(connection.isConnected());
          assertTrue(first.get(60, TimeUnit.SECONDS).get(id).failure() != null);
        }
      }
    }
  }
}

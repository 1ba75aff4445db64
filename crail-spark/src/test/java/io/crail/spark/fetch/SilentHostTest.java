/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static io.crail.spark.fetch.MapOutputs.MIB;
import static io.crail.spark.fetch.MapOutputs.fetch;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.UnavailableException;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.fetch.MapOutputs.Results;
import io.crail.spark.output.OutputId;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One of two datanodes is gone, and the namenode does not know it yet. */
@Tag("once")
class SilentHostTest {
  private static final String DEAD = "crail-dead";
  private static final String ALIVE = "crail-alive";
  private static final int BLOCKS = 12;

  private MapOutputs outputs;
  private final List<BlockRange> dead = new ArrayList<>();
  private final List<BlockRange> alive = new ArrayList<>();
  private InetSocketAddress address;

  /** Waits a second for an answer. */
  private CrailStore hasty;

  @BeforeEach
  void start() throws Exception {
    outputs = new MapOutputs(EmbeddedCrail.builder().datanodes(2).mapped(false));
    CrailConfiguration configuration = CrailConfiguration.of(outputs.cluster.configuration());
    configuration.set("crail.datatimeout", "1000");
    hasty = CrailStore.newInstance(configuration);
    Map<String, List<BlockRange>> byDatanode = new HashMap<>();
    for (int map = 0; map < 4 * BLOCKS; map++) {
      OutputId id = new OutputId(1, map);
      outputs.write(id, "a", new byte[][][] {{new byte[20_000]}});
      CrailFile file = outputs.open(id).file();
      Set<String> names = new HashSet<>();
      for (CrailBlockLocation place : file.getBlockLocations(0, file.getCapacity())) {
        names.add(place.getNames()[0]);
      }
      if (names.size() == 1) {
        byDatanode
            .computeIfAbsent(names.iterator().next(), key -> new ArrayList<>())
            .add(new BlockRange("block " + map, id, 0, 1));
      }
    }
    outputs.cluster.stopDatanode(0);
    for (Map.Entry<String, List<BlockRange>> each : byDatanode.entrySet()) {
      List<BlockRange> one = each.getValue().subList(0, 1);
      try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ZERO)) {
        boolean lost = !(fetch(fetcher, one).get(one.get(0).name()) instanceof byte[]);
        (lost ? dead : alive).addAll(each.getValue());
        if (lost) {
          int colon = each.getKey().lastIndexOf(':');
          address =
              new InetSocketAddress(
                  each.getKey().substring(0, colon),
                  Integer.parseInt(each.getKey().substring(colon + 1)));
        }
      }
    }
    assertTrue(dead.size() >= BLOCKS && alive.size() >= BLOCKS, dead.size() + " are lost");
  }

  @AfterEach
  void stop() throws Exception {
    hasty.close();
    outputs.close();
  }

  private static void fetchEach(
      Fetcher fetcher, String host, List<BlockRange> blocks, BlockListener listener) {
    blocks.subList(0, BLOCKS).forEach(block -> fetcher.fetch(host, List.of(block), listener));
  }

  /** Nobody takes connections, or somebody does who says nothing. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void costsOnePatienceForAllAndDelaysNobodyElse(boolean mute) throws Exception {
    Duration patience = Duration.ofSeconds(4);
    try (ServerSocket server = new ServerSocket();
        Fetcher fetcher =
            new Fetcher(MapOutputs.place(hasty), new Fetcher.Limits(2, 4L * MIB, MIB, patience))) {
      if (mute) {
        server.bind(address);
      }
      Results lost = new Results(BLOCKS);
      Results found = new Results(BLOCKS);
      long began = System.nanoTime();
      fetchEach(fetcher, DEAD, dead, lost);
      fetchEach(fetcher, ALIVE, alive, found);
      found.await();
      assertEquals(0, lost.all.size());
      lost.await();
      long took = System.nanoTime() - began;
      assertTrue(took >= patience.toNanos() && took < 2 * patience.toNanos(), took + " ns");
      Class<?> error = mute ? CrailTimeoutException.class : UnavailableException.class;
      lost.all.values().forEach(each -> assertInstanceOf(error, each));
      found.all.values().forEach(each -> assertInstanceOf(byte[].class, each));

      // Whoever asks later does not wait for it once more.
      Results later = new Results(BLOCKS);
      began = System.nanoTime();
      fetchEach(fetcher, DEAD, dead, later);
      later.await();
      assertTrue(System.nanoTime() - began < patience.toNanos());
      // It answers again.
      Results again = new Results(BLOCKS);
      fetchEach(fetcher, DEAD, alive, again);
      again.await();
      again.all.values().forEach(each -> assertInstanceOf(byte[].class, each));
    }
  }

  /** Tells after the first attempt that it has ended. */
  private static final class Ending extends Results {
    final CountDownLatch attempts = new CountDownLatch(2);
    final AtomicBoolean ended = new AtomicBoolean();

    Ending(int count) {
      super(count);
    }

    @Override
    public boolean isWanted() {
      attempts.countDown();
      return !ended.get();
    }

    void awaitRetry() throws InterruptedException {
      assertTrue(attempts.await(60, TimeUnit.SECONDS));
    }
  }

  @Test
  void isNotAskedForATaskThatHasEnded() throws Exception {
    Fetcher.Limits limits = new Fetcher.Limits(1, MIB, MIB, Duration.ofMinutes(5));
    try (Fetcher fetcher = new Fetcher(outputs.place, limits)) {
      Ending task = new Ending(1);
      Results other = new Results(1);
      fetcher.fetch(DEAD, dead, task);
      fetcher.fetch(DEAD, alive.subList(0, 1), other);
      task.awaitRetry();
      assertEquals(0, other.all.size());
      task.ended.set(true);
      other.await();
      assertEquals(0, task.all.size());
    }
  }

  /** An executor that ends knows nothing of what is lost. */
  @Test
  void isNotReportedByAnExecutorThatEnds() throws Exception {
    Ending task = new Ending(1);
    long began;
    try (Fetcher fetcher = outputs.fetcher(MIB, Duration.ofMinutes(5))) {
      fetcher.fetch(DEAD, dead, task);
      task.awaitRetry();
      began = System.nanoTime();
    }
    assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(20));
    assertEquals(0, task.all.size());
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static io.crail.spark.fetch.MapOutputs.MIB;
import static io.crail.spark.fetch.MapOutputs.fetch;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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
  private static final int MOST = 1000;

  private MapOutputs outputs;
  private final List<BlockRange> dead = new ArrayList<>();
  private final List<BlockRange> alive = new ArrayList<>();
  private InetSocketAddress address;

  /** Waits a second for an answer. */
  private CrailStore hasty;

  private final PausedTime time = new PausedTime();

  /** Time that passes in pauses, which end when the test lets them; else it only moves. */
  private static final class PausedTime implements FetchTime {
    static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
    private static final int ALL = 1 << 20;

    private final Semaphore allowed = new Semaphore(0);
    final AtomicInteger begun = new AtomicInteger();
    final AtomicInteger looks = new AtomicInteger();
    private final AtomicLong nanos = new AtomicLong();

    @Override
    public long nanoTime() {
      looks.incrementAndGet();
      return nanos.incrementAndGet();
    }

    @Override
    public void pause() throws InterruptedException {
      begun.incrementAndGet();
      allowed.acquire();
      nanos.addAndGet(PAUSE_NANOS);
    }

    void allow(int pauses) {
      allowed.release(pauses);
    }

    void allowAll() {
      allow(ALL);
    }
  }

  @BeforeEach
  void start() throws Exception {
    outputs = new MapOutputs(EmbeddedCrail.builder().datanodes(2).mapped(false));
    CrailConfiguration configuration = CrailConfiguration.of(outputs.cluster.configuration());
    configuration.set("crail.datatimeout", "1000");
    hasty = CrailStore.newInstance(configuration);
    Map<String, List<BlockRange>> byDatanode = new HashMap<>();
    // Each datanode gets some of them, whatever the order.
    for (int map = 0; map < MOST && !areEnough(byDatanode); map++) {
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

  private static boolean areEnough(Map<String, List<BlockRange>> byDatanode) {
    return byDatanode.size() == 2
        && byDatanode.values().stream().allMatch(blocks -> blocks.size() >= BLOCKS);
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

  private Fetcher fetcher(CrailStore store, int threads, Duration patience) {
    Fetcher.Limits limits = new Fetcher.Limits(threads, 4L * MIB, MIB, patience);
    return new Fetcher(MapOutputs.place(store), limits, time);
  }

  /** Connections are not accepted, or are accepted and not answered. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void costsOnePatienceForAllAndDelaysNoOther(boolean mute) throws Exception {
    int threads = 2;
    int pauses = 3;
    Duration patience = Duration.ofNanos(pauses * PausedTime.PAUSE_NANOS);
    try (ServerSocket server = new ServerSocket();
        Fetcher fetcher = fetcher(hasty, threads, patience)) {
      if (mute) {
        server.bind(address);
      }
      Results lost = new Results(BLOCKS);
      Results found = new Results(BLOCKS);
      fetchEach(fetcher, DEAD, dead, lost);
      fetchEach(fetcher, ALIVE, alive, found);
      found.await();
      MapOutputs.await("all threads of the dead host", () -> time.begun.get() == threads);
      assertEquals(0, lost.all.size());
      time.allowAll();
      lost.await();
      // The last pause of each thread may begin before the patience ends.
      int begun = time.begun.get();
      assertTrue(begun >= pauses && begun < pauses + threads, begun + " pauses");
      Class<?> error = mute ? CrailTimeoutException.class : UnavailableException.class;
      lost.all.values().forEach(each -> assertInstanceOf(error, each));
      found.all.values().forEach(each -> assertInstanceOf(byte[].class, each));

      // Whoever asks later does not wait for it once more, and one attempt is enough for many: a
      // request looks at the time when it comes, and before and after an attempt.
      int before = time.looks.get();
      CountDownLatch asked = new CountDownLatch(1);
      Results later =
          new Results(BLOCKS) {
            @Override
            public boolean isWanted() {
              try {
                return asked.await(60, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                return false;
              }
            }
          };
      fetchEach(fetcher, DEAD, dead, later);
      asked.countDown();
      later.await();
      assertEquals(begun, time.begun.get());
      int looks = time.looks.get() - before;
      assertTrue(looks <= BLOCKS + 2 * threads, looks + " looks at the time");
      // It answers again.
      Results again = new Results(BLOCKS);
      fetchEach(fetcher, DEAD, alive, again);
      again.await();
      again.all.values().forEach(each -> assertInstanceOf(byte[].class, each));
    }
  }

  /** A task that ends when the test says so. */
  private static final class Ending extends Results {
    final AtomicBoolean ended = new AtomicBoolean();

    Ending(int count) {
      super(count);
    }

    @Override
    public boolean isWanted() {
      return !ended.get();
    }
  }

  @Test
  void isNotAskedForATaskThatHasEnded() throws Exception {
    try (Fetcher fetcher = fetcher(outputs.store, 1, Duration.ofMinutes(5))) {
      Ending task = new Ending(1);
      Results other = new Results(1);
      fetcher.fetch(DEAD, dead, task);
      fetcher.fetch(DEAD, alive.subList(0, 1), other);
      time.allow(1);
      MapOutputs.await("the second attempt", () -> time.begun.get() == 2);
      assertEquals(0, other.all.size());
      task.ended.set(true);
      time.allow(1);
      other.await();
      assertEquals(0, task.all.size());
    }
  }

  /** An executor that ends knows nothing of what is lost. */
  @Test
  void isNotReportedByAnExecutorThatEnds() throws Exception {
    Ending task = new Ending(1);
    List<Thread> threads;
    try (Fetcher fetcher = fetcher(outputs.store, 2, Duration.ofMinutes(5))) {
      fetcher.fetch(DEAD, dead, task);
      MapOutputs.await("a pause", () -> time.begun.get() == 1);
      threads =
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().endsWith(DEAD))
              .toList();
    }
    assertEquals(1, threads.size());
    // The pause would not end.
    threads.get(0).join(TimeUnit.SECONDS.toMillis(60));
    assertFalse(threads.get(0).isAlive());
    assertEquals(0, task.all.size());
  }
}

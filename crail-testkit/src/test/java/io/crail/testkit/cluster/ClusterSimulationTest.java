/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whole clusters, each in one thread and from a seed, as many at once as there are processors.
 * {@code -Dcrail.seed} runs one seed, {@code -Dcrail.simulation.seeds} sets the number of seeds.
 */
@Timeout(7200)
@Tag("once")
class ClusterSimulationTest {
  private static final int USUAL_SEEDS = 150;
  private static final int LONG_SEEDS = 10_000;

  /** So many that each operation succeeds in some. */
  private static final int ENOUGH_SEEDS = 20;

  private final Map<String, Integer> counts = new TreeMap<>();

  private static int seeds() {
    boolean isLong = Boolean.getBoolean("crail.test.long");
    return Integer.getInteger("crail.simulation.seeds", isLong ? LONG_SEEDS : USUAL_SEEDS);
  }

  private long run(long seed) throws Exception {
    try (ClusterSimulation simulation = new ClusterSimulation(seed, true)) {
      try {
        simulation.run();
      } catch (Exception | AssertionError e) {
        throw new AssertionError(
            "repeat with: bin/test -m crail-testkit -t ClusterSimulationTest --seed "
                + seed
                + "\nafter "
                + simulation.now() / 1_000
                + " us: "
                + e.getMessage()
                + "\nwith\n"
                + simulation.history(),
            e);
      }
      synchronized (counts) {
        simulation.world().counts().forEach((what, n) -> counts.merge(what, n, Integer::sum));
      }
      return simulation.network().trace();
    }
  }

  @Test
  void nothingIsWrongWhateverHappens() throws Exception {
    Long one = Long.getLong("crail.seed");
    long first = one != null ? one : Long.getLong("crail.simulation.first", System.nanoTime());
    int count = one != null ? 1 : seeds();
    long begin = System.nanoTime();
    int processors = Runtime.getRuntime().availableProcessors();
    ExecutorService workers = Executors.newFixedThreadPool(processors);
    try {
      AtomicInteger next = new AtomicInteger();
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < processors; i++) {
        running.add(workers.submit(() -> runAll(first, next, count)));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } finally {
      workers.shutdownNow();
    }
    System.out.printf(
        "%d seeds from %d on in %d ms: %s%n",
        count, first, (System.nanoTime() - begin) / 1_000_000, counts);
    if (count >= ENOUGH_SEEDS) {
      assertTrue(counts.containsKey("move ok"), counts::toString);
      assertTrue(counts.containsKey("snapshot ok"), counts::toString);
      for (String each : counts.keySet()) {
        // What never succeeds is not tried out.
        String operation = each.substring(0, each.indexOf(' '));
        assertTrue(counts.containsKey(operation + " ok"), operation + " never succeeds");
      }
    }
  }

  /** Runs seeds until none is left, or one has failed: each is a world of its own. */
  private Void runAll(long first, AtomicInteger next, int count) throws Exception {
    try {
      for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
        run(first + i);
      }
      return null;
    } finally {
      next.set(count);
    }
  }

  @Test
  void oneSeedDoesTheSameTwice() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    long trace = run(seed);
    assertEquals(trace, run(seed), "seed " + seed);
    assertNotEquals(trace, run(seed + 1), "seed " + seed);
  }
}

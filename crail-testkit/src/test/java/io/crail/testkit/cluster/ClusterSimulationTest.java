/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whole clusters in one thread, each from a seed. {@code -Dcrail.seed} runs one seed, {@code
 * -Dcrail.simulation.seeds} sets the number of seeds.
 */
@Timeout(7200)
@Tag("once")
class ClusterSimulationTest {
  private static final int USUAL_SEEDS = 300;
  private static final int LONG_SEEDS = 10_000;

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
      simulation.world().counts().forEach((what, count) -> counts.merge(what, count, Integer::sum));
      return simulation.network().trace();
    }
  }

  @Test
  void nothingIsWrongWhateverHappens() throws Exception {
    Long one = Long.getLong("crail.seed");
    long first = one != null ? one : Long.getLong("crail.simulation.first", System.nanoTime());
    int count = one != null ? 1 : seeds();
    long begin = System.nanoTime();
    for (int i = 0; i < count; i++) {
      run(first + i);
    }
    System.out.printf(
        "%d seeds from %d on in %d ms: %s%n",
        count, first, (System.nanoTime() - begin) / 1_000_000, counts);
  }

  @Test
  void oneSeedDoesTheSameTwice() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    long trace = run(seed);
    assertEquals(trace, run(seed), "seed " + seed);
    assertNotEquals(trace, run(seed + 1), "seed " + seed);
  }
}

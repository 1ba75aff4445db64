/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.embedded.EmbeddedCrail;
import io.crail.namenode.conf.NameNodeKeys;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Recorded sessions with faults against an embedded cluster, over real sockets. {@code
 * -Dcrail.seed=} repeats the faults. With the long tests it takes a minute.
 */
@Tag("once")
class HostileSessionsTest {
  private static final long SECONDS = 1_000_000_000L;
  private static final long MOST_GROWTH = 64L << 20;

  @Test
  void honestClientsNoticeNothing() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    long seconds = Boolean.getBoolean("crail.test.long") ? 60 : 6;
    System.out.println("-Dcrail.seed=" + seed);
    try (ErrorLog log = new ErrorLog();
        EmbeddedCrail crail =
            EmbeddedCrail.builder()
                .storage(1L << 30)
                .mapped(false)
                .set(NameNodeKeys.SPILL_ORDER, "0")
                .set(NameNodeKeys.LEASE, "5s")
                .start()) {
      HostileSessions sessions = new HostileSessions(crail.configuration());
      sessions.record();
      sessions.attack(seed + 1_000, SECONDS);
      final Set<String> threads = threads();
      final long memory = memory();
      HostileSessions.Outcome outcome = sessions.attack(seed, seconds * SECONDS);
      System.out.println(outcome);
      assertTrue(outcome.sessions() > 10, outcome::toString);
      sessions.requireNothingLeft();
      assertEquals(List.of(), log.errors());
      Set<String> dead = new TreeSet<>(threads);
      dead.removeAll(threads());
      assertEquals(Set.of(), dead, "threads that have ended");
      long growth = memory() - memory;
      assertTrue(growth < MOST_GROWTH, () -> growth + " bytes more than before");
    } catch (Exception | AssertionError e) {
      throw new AssertionError("-Dcrail.seed=" + seed, e);
    }
  }

  /** The servers' threads. */
  private static Set<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.matches("crail-storage.*|crail-datanode.*|.*namenode.*"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static long memory() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}

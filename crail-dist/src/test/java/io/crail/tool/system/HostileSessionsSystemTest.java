/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.testkit.fuzz.HostileSessions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Recorded sessions with faults against processes; {@code -Dcrail.seed=} repeats the faults. */
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "an embedded cluster is attacked always: this runs among the long tests")
@Tag("once")
class HostileSessionsSystemTest {
  private static final long NANOS = 60_000_000_000L;

  @Test
  void honestClientsNoticeNothing() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    try (ProcessCluster cluster = ProcessCluster.startLogging(1, 0)) {
      cluster.startDatanode("1g", -1);
      HostileSessions sessions = new HostileSessions(cluster.configuration());
      sessions.record();
      HostileSessions.Outcome outcome = sessions.attack(seed, NANOS);
      System.out.println(outcome);
      assertTrue(outcome.sessions() > 100, outcome::toString);
      sessions.requireNothingLeft();
      List<String> errors =
          Stream.of(cluster.namenode(0), cluster.datanode(0))
              .flatMap(process -> process.stderr().lines())
              .filter(line -> line.contains(" ERROR "))
              .toList();
      assertEquals(List.of(), errors);
    } catch (Exception | AssertionError e) {
      throw new AssertionError("-Dcrail.seed=" + seed, e);
    }
  }
}

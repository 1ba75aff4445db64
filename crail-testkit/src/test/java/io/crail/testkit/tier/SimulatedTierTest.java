/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the simulated tier does besides: time passes, and answers get lost. */
class SimulatedTierTest extends TierContract {
  private final SimulatedBench simulation;

  SimulatedTierTest() {
    super(new SimulatedBench());
    simulation = (SimulatedBench) bench;
  }

  @Test
  void aSilentDatanodeIsGivenUpAtTheDeadline() throws Exception {
    StorageEndpoint endpoint = endpoint();
    simulation.tier().crash(server.address());
    long start = simulation.network().clock().nanoTime();
    long timeout = Duration.ofSeconds(30).toNanos();
    fail(
        begin(endpoint, true, randomBuffer(10), 0, 10, extent(0, 0, 4096), 0, timeout),
        ErrorCode.TIMED_OUT);
    long took = simulation.network().clock().nanoTime() - start;
    assertTrue(took >= timeout && took < timeout + 1_000_000_000, () -> "took " + took);
  }

  @Test
  void aLostAnswerLeavesAWriteThatMayCompleteLater() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer before = randomBuffer(BLOCK);
    write(endpoint, before, extent, 0);
    simulation.tier().loseAnswers(1, Duration.ofSeconds(5));
    ByteBuffer after = randomBuffer(BLOCK);
    fail(
        begin(endpoint, true, after, 0, BLOCK, extent, 0, Duration.ofMillis(100).toNanos()),
        ErrorCode.TIMED_OUT);
    simulation.tier().loseAnswers(0, Duration.ZERO);
    simulation.network().runFor(Duration.ofSeconds(6));
    assertEquals(-1, after.mismatch(read(endpoint, BLOCK, extent, 0)));
  }

  @Test
  void aLateWriteNeverReachesALaterGeneration() throws Exception {
    StorageEndpoint endpoint = endpoint();
    for (int round = 0; round < 50; round++) {
      Extent old = extent(0, 0, BLOCK);
      write(endpoint, randomBuffer(BLOCK), old, 0);
      simulation.tier().loseAnswers(1, Duration.ofSeconds(5));
      Transfer late =
          begin(
              endpoint,
              true,
              randomBuffer(BLOCK),
              0,
              BLOCK,
              old,
              0,
              Duration.ofMillis(50).toNanos());
      fail(late, ErrorCode.TIMED_OUT);
      simulation.tier().loseAnswers(0, Duration.ZERO);
      simulation.network().runFor(Duration.ofMillis(random.nextInt(3000)));
      Extent young = laterExtent(old);
      ByteBuffer bytes = randomBuffer(BLOCK);
      write(endpoint, bytes, young, 0);
      simulation.network().runFor(Duration.ofSeconds(6));
      assertEquals(-1, bytes.mismatch(read(endpoint, BLOCK, young, 0)));
    }
  }
}

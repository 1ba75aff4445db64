/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostPatienceTest {
  private static final Exception CAUSE = ErrorCode.UNAVAILABLE.exception("a test");

  private final HostPatience patience = new HostPatience(Duration.ofNanos(30), FetchTime.SYSTEM);

  /** Clocks of {@link System#nanoTime} begin anywhere and may pass their largest number. */
  @ParameterizedTest
  @ValueSource(longs = {0, -100, Long.MAX_VALUE - 35})
  void allRequestsShareOnePatience(long begin) {
    assertTrue(patience.inVain(CAUSE, begin, begin + 10));
    assertEquals(Optional.empty(), patience.givenUp(begin));
    assertTrue(patience.inVain(CAUSE, begin + 5, begin + 15));
    assertTrue(patience.inVain(CAUSE, begin + 12, begin + 22));
    assertFalse(patience.inVain(CAUSE, begin + 24, begin + 34));
    // Those that were there before the last attempt need none of their own, but later ones do.
    assertEquals(Optional.of(CAUSE), patience.givenUp(begin));
    assertEquals(Optional.of(CAUSE), patience.givenUp(begin + 24));
    assertEquals(Optional.empty(), patience.givenUp(begin + 25));
    assertFalse(patience.inVain(CAUSE, begin + 50, begin + 60));
    assertEquals(Optional.of(CAUSE), patience.givenUp(begin + 25));
    assertEquals(Optional.empty(), patience.givenUp(begin + 51));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aHostHasPatienceAgain(boolean answered) {
    assertFalse(patience.inVain(CAUSE, 0, 40));
    if (answered) {
      patience.answered();
      assertEquals(Optional.empty(), patience.givenUp(0));
    }
    // Otherwise it has not been asked for longer than the patience.
    assertTrue(patience.inVain(CAUSE, answered ? 50 : 71, answered ? 60 : 80));
    assertEquals(Optional.empty(), patience.givenUp(0));
  }
}

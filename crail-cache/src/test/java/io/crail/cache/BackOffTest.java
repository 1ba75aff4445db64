/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests when Crail is left alone. */
class BackOffTest {
  private static final long SECOND = 1_000_000_000L;

  private long nanos = Long.MAX_VALUE - SECOND;
  private final BackOff backOff =
      new BackOff(Duration.ofSeconds(1), Duration.ofSeconds(2), () -> nanos);

  @Test
  void oneThreadTriesAfterAPause() {
    assertTrue(backOff.mayAsk());
    assertTrue(backOff.failed());
    assertFalse(backOff.failed(), "asked before the pause");
    nanos += SECOND - 1;
    assertFalse(backOff.mayAsk());
    nanos++;
    assertTrue(backOff.mayAsk());
    assertFalse(backOff.mayAsk(), "another one tries");
    backOff.succeeded();
    assertTrue(backOff.mayAsk());
    assertTrue(backOff.mayAsk());
  }

  @Test
  void anAnswerToAnOlderQuestionEndsNoPause() {
    backOff.failed();
    backOff.succeeded();
    assertFalse(backOff.mayAsk());
  }

  @Test
  void pausesGrowToALimit() {
    backOff.failed();
    for (int pause : new int[] {1, 2, 4, 8, 16, 32, 32, 32}) {
      nanos += pause * SECOND - 1;
      assertFalse(backOff.mayAsk());
      nanos++;
      assertTrue(backOff.mayAsk());
      assertFalse(backOff.failed());
    }
  }

  @Test
  void aThreadThatDoesNotComeBackIsFollowedByAnother() {
    backOff.failed();
    nanos += SECOND;
    assertTrue(backOff.mayAsk());
    nanos += 2 * SECOND - 1;
    assertFalse(backOff.mayAsk());
    nanos++;
    assertTrue(backOff.mayAsk());
  }

  @Test
  void toLookWhetherCrailMayBeAskedIsNotToAsk() {
    backOff.failed();
    assertFalse(backOff.wouldLet());
    nanos += SECOND;
    assertTrue(backOff.wouldLet());
    assertTrue(backOff.wouldLet());
    assertFalse(backOff.isWell());
    assertTrue(backOff.mayAsk());
    assertFalse(backOff.wouldLet(), "one tries");
    backOff.succeeded();
    assertTrue(backOff.wouldLet());
    assertTrue(backOff.isWell());
  }
}

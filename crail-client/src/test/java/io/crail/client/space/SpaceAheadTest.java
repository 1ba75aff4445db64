/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.protocol.part.Extent;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which puts get space ahead. */
class SpaceAheadTest {
  private static final int LENGTH = 1 << 20;
  private static final long LEASE = 1000;

  private final SpaceAhead ahead = new SpaceAhead();

  private static SpaceAhead.Kind kind(String table) {
    return new SpaceAhead.Kind(0, table, -1, false, Utf8.EMPTY, LENGTH);
  }

  private static SpaceAhead.Grant grant(long id, long validUntil) {
    return new SpaceAhead.Grant(id, 1, new Extent(0, 1, 0, LENGTH, 1, 0), validUntil, 1);
  }

  private SpaceAhead.Plan plan(String table, long now) {
    return ahead.plan(kind(table), now, LEASE, 1);
  }

  @Test
  void oneValueAsksForNothingAndOneBehindItDoes() {
    assertFalse(plan("/t", 0).asks());
    SpaceAhead.Plan second = plan("/t", 10);
    assertTrue(second.asks());
    assertNull(second.grant());
    SpaceAhead.Grant grant = grant(1, 10 + LEASE);
    ahead.answered(kind("/t"), grant);
    SpaceAhead.Plan third = plan("/t", 20);
    assertSame(grant, third.grant());
    assertTrue(third.asks());
    ahead.answered(kind("/t"), null);
    assertEquals(0, ahead.bytes());
  }

  @Test
  void valuesFarFromEachOtherAskForNothing() {
    for (int i = 0; i < 5; i++) {
      assertFalse(plan("/t", i * LEASE / 2).asks());
    }
    assertEquals(0, ahead.bytes());
  }

  @Test
  void whoBeginsHasHalfALease() {
    plan("/t", 0);
    plan("/t", 10);
    ahead.answered(kind("/t"), grant(1, 10 + LEASE));
    assertNull(plan("/t", 11 + LEASE / 2).grant());
    // It counts until the namenode may have it again.
    assertEquals(LENGTH, ahead.bytes());
    assertFalse(plan("/t", 10 + LEASE + LEASE / 2).asks());
    assertEquals(0, ahead.bytes());
  }

  @Test
  void whatAnEarlierStartOfTheNamenodeHasGivenIsNotUsed() {
    plan("/t", 0);
    plan("/t", 10);
    ahead.answered(kind("/t"), grant(1, 10 + LEASE));
    assertNull(ahead.plan(kind("/t"), 20, LEASE, 2).grant());
    assertNull(plan("/t", 30).grant());
  }

  @Test
  void whatCannotBeReachedYetIsForTheNext() {
    plan("/t", 0);
    plan("/t", 10);
    ahead.answered(kind("/t"), grant(1, 10 + LEASE));
    SpaceAhead.Plan third = plan("/t", 20);
    ahead.notYet(kind("/t"), third.grant());
    ahead.answered(kind("/t"), null);
    assertEquals(LENGTH, ahead.bytes());
    SpaceAhead.Plan fourth = plan("/t", 30);
    assertSame(third.grant(), fourth.grant());
    assertTrue(fourth.asks());
    // One copy that fails is no reason to stop.
    ahead.unused(fourth.grant());
    ahead.answered(kind("/t"), null);
    assertTrue(plan("/t", 40).asks());
    assertEquals(2 * LENGTH, ahead.bytes());
  }

  @Test
  void thereIsALimitForAll() {
    int most = (int) (SpaceAhead.MOST_BYTES / LENGTH);
    plan("/a", 0);
    plan("/b", 0);
    for (int i = 0; i < most; i++) {
      assertTrue(plan("/a", 1).asks());
    }
    assertFalse(plan("/a", 1).asks());
    assertFalse(plan("/b", 1).asks());
    for (int i = 0; i < most; i++) {
      ahead.answered(kind("/a"), grant(i, 1 + LEASE));
    }
    assertEquals(SpaceAhead.MOST_BYTES, ahead.bytes());
    assertFalse(plan("/b", 2).asks());
    // Behind the end of a lease nobody has it any more.
    assertNull(plan("/a", 1 + LEASE / 2 + 1).grant());
    assertEquals(SpaceAhead.MOST_BYTES, ahead.bytes());
    plan("/b", 1 + LEASE);
    assertEquals(0, ahead.bytes());
    assertTrue(plan("/b", 2 + LEASE).asks());
  }

  @Test
  void tablesThatNobodyPutsIntoAreForgotten() {
    plan("/t", 0);
    plan("/t", 1);
    ahead.answered(kind("/t"), grant(1, 1 + LEASE));
    for (int i = 0; i < 1000; i++) {
      plan("/" + i, 2);
    }
    assertEquals(LENGTH, ahead.bytes(), "the namenode has not forgotten");
    assertFalse(plan("/t", 3).asks());
    // What comes for a table that was forgotten is nobody's.
    plan("/u", 3);
    plan("/u", 3);
    for (int i = 1000; i < 2000; i++) {
      plan("/" + i, 3);
    }
    ahead.answered(kind("/u"), grant(2, 3 + LEASE));
    assertNull(plan("/u", 4).grant());
    assertEquals(2 * LENGTH, ahead.bytes());
    plan("/v", 3 + LEASE);
    assertEquals(0, ahead.bytes());
  }

  @Test
  void whatIsTooOldAndWasNotBegunIsGivenBackOnce() {
    plan("/t", 0);
    plan("/t", 1);
    plan("/t", 2);
    SpaceAhead.Grant first = grant(1, 1 + LEASE);
    SpaceAhead.Grant second = grant(2, 2 + LEASE);
    ahead.answered(kind("/t"), first);
    ahead.answered(kind("/t"), second);
    assertTrue(ahead.hasSome());
    assertEquals(List.of(), ahead.takeUntouched(1 + LEASE / 2));
    assertTrue(ahead.hasSome());
    assertEquals(List.of(first), ahead.takeUntouched(2 + LEASE / 2));
    assertEquals(LENGTH, ahead.bytes());
    assertEquals(List.of(second), ahead.takeUntouched(3 + LEASE / 2));
    assertEquals(List.of(), ahead.takeUntouched(LEASE));
    assertFalse(ahead.hasSome());
    assertEquals(0, ahead.bytes());
  }

  @Test
  void whatSomebodyMayBeWritingToIsNotGivenBack() {
    plan("/t", 0);
    plan("/t", 1);
    SpaceAhead.Grant grant = grant(1, 1 + LEASE);
    ahead.answered(kind("/t"), grant);
    assertSame(grant, plan("/t", 2).grant());
    ahead.unused(grant);
    ahead.answered(kind("/t"), null);
    assertEquals(List.of(), ahead.takeUntouched(LEASE));
    assertFalse(ahead.hasSome());
    assertEquals(LENGTH, ahead.bytes());
  }

  @Test
  void anExtentOfAnotherLengthIsNotKept() {
    plan("/t", 0);
    plan("/t", 1);
    ahead.answered(
        kind("/t"), new SpaceAhead.Grant(1, 1, new Extent(0, 1, 0, 4096, 1, 0), LEASE, 1));
    assertEquals(4096, ahead.bytes());
    assertNull(plan("/t", 2).grant());
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.quota;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.protocol.part.Extent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Limits that are divided, beside shares that hear of it late, twice or never. */
class SlicesTest {
  private static final long SEED = Long.getLong("crail.seed", System.nanoTime());
  private static final int MOST_ROUNDS = 30;

  /** In which clients try once that try once a second. */
  private static final int ROUNDS_PER_SECOND = 4;

  /** After these, who has been refused before is as all others. */
  private static final int ROUNDS_TO_REST = Slices.SHORT_ANSWERS + 3;

  private record Message(long version, Quota.Limits slice) {}

  /** What a namenode knows that does not own the directory. */
  private static final class Share {
    private Quota quota = new Quota("share", null);
    private final List<Message> messages = new ArrayList<>();
    private long last;

    /** The request that waits for its answer; 0 for none. */
    private long open;

    Quota.Report receive(Message message) {
      boolean isLate = message.version < last;
      last = Math.max(last, message.version);
      return isLate ? quota.report() : quota.slice(message.slice);
    }
  }

  private final Random random = new Random(SEED);
  private final Quota owner = new Quota("directory", null);
  private final List<Share> shares = new ArrayList<>();
  private long version;

  private void begin(int count) {
    owner.divide(count, 0);
    for (int i = 0; i < count; i++) {
      shares.add(new Share());
    }
    shares.get(0).quota = owner;
  }

  private long bytes() {
    return shares.stream().mapToLong(share -> share.quota.usage().bytes()).sum();
  }

  private long names() {
    return shares.stream().mapToLong(share -> share.quota.usage().names()).sum();
  }

  /** A request to each, and the answer. */
  private void round() {
    for (int i = 1; i < shares.size(); i++) {
      Share share = shares.get(i);
      share.open = ++version;
      Message message = new Message(version, owner.offer(i));
      answer(i, message);
    }
  }

  private void rounds(int count) {
    for (int i = 0; i < count; i++) {
      round();
    }
  }

  private void answer(int index, Message message) {
    Share share = shares.get(index);
    Quota.Report report = share.receive(message);
    if (share.open == message.version) {
      share.open = 0;
      owner.answered(index, report, true);
    }
  }

  private void anything() {
    int index = random.nextInt(shares.size());
    Share share = shares.get(index);
    Quota quota = share.quota;
    int choice = random.nextInt(20);
    if (choice < 8) {
      quota.take(random.nextInt(40_000), random.nextInt(3));
    } else if (choice < 11) {
      Quota.Usage usage = quota.usage();
      quota.give(
          Math.min(usage.bytes(), random.nextInt(60_000)),
          Math.min(usage.names(), random.nextInt(4)));
    } else if (index == 0) {
      assertTrue(owner.wholeUsage().names() >= owner.usage().names());
    } else if (choice < 14 && share.open == 0) {
      share.open = ++version;
      share.messages.add(new Message(version, owner.offer(index)));
    } else if (choice < 17 && !share.messages.isEmpty()) {
      Message message = share.messages.get(random.nextInt(share.messages.size()));
      if (random.nextInt(4) > 0) {
        share.messages.remove(message);
      }
      answer(index, message);
    } else if (choice == 17) {
      // Its answer is not waited for any more.
      share.open = 0;
    } else if (choice == 18 && random.nextInt(20) == 0) {
      // It is started again, and what was under way to it before is lost.
      share.quota = new Quota("share", null);
      share.quota.slice(new Quota.Limits(0, 0));
      share.messages.clear();
      share.open = 0;
      share.last = 0;
    }
  }

  @Test
  void useIsNeverAboveTheLimits() {
    begin(4);
    round();
    for (int i = 0; i < 200; i++) {
      anything();
    }
    Quota.Limits limits = new Quota.Limits(1 << 20, 60);
    owner.limit(limits);
    // Nothing that was lent before is left, and each has said so.
    for (Share share : shares) {
      share.open = 0;
    }
    round();
    long mostBytes = Math.max(bytes(), limits.bytes());
    long mostNames = Math.max(names(), limits.names());
    for (int i = 0; i < 100_000; i++) {
      anything();
      assertTrue(bytes() <= mostBytes, () -> "seed " + SEED + ", " + bytes() + " bytes");
      assertTrue(names() <= mostNames, () -> "seed " + SEED + ", " + names() + " names");
    }
  }

  @Test
  void nothingIsTakenUntilAllHaveSaidWhatTheyUse() {
    begin(3);
    assertFalse(owner.isCounted());
    owner.limit(new Quota.Limits(-1, 9));
    assertTrue(owner.take(0, 1) != null);
    assertNull(shares.get(1).quota.take(0, 4));
    round();
    assertTrue(owner.isCounted());
    assertTrue(shares.get(1).quota.take(0, 1) != null, "its slice is what it uses");
    rounds(ROUNDS_TO_REST);
    // Five are left, and each has a third of them, and the owner what does not divide.
    assertNull(owner.take(0, 3));
    assertNull(shares.get(1).quota.take(0, 1));
    assertNull(shares.get(2).quota.take(0, 1));
    assertTrue(shares.get(2).quota.take(0, 1) != null);
    round();
    assertEquals(new Quota.Usage(0, 9, new Quota.Limits(-1, 9)), owner.wholeUsage());
  }

  @Test
  void slicesFollowUse() {
    begin(4);
    owner.limit(new Quota.Limits(64 << 20, 1000));
    round();
    round();
    int rounds = 0;
    int most = 0;
    Quota one = shares.get(2).quota;
    while (one.usage().names() < 1000 || one.usage().bytes() < 64 << 20) {
      boolean hasMore = true;
      while (hasMore) {
        hasMore = one.take(Extent.MIN_LENGTH, 0) == null | one.take(0, 1) == null;
      }
      most += one.usage().names() < 990 ? 1 : 0;
      round();
      rounds++;
      assertTrue(rounds < MOST_ROUNDS, "after " + rounds + " rounds " + one.usage());
    }
    // It gives up what it does not need, once it has not been refused for a while.
    one.give(32 << 20, 500);
    rounds(ROUNDS_TO_REST);
    Quota other = shares.get(3).quota;
    long taken = 0;
    while (other.take(0, 1) == null) {
      taken++;
    }
    System.out.println(
        most + " rounds for 99 %, " + rounds + " for all, then " + taken + " of 500 at once");
    assertTrue(taken >= 500 / 4 - 1, "taken " + taken);
  }

  /** More namenodes than free names, and two clients that try again, but not often. */
  @Test
  void whoeverTriesAgainGetsWhatIsFree() {
    begin(8);
    owner.limit(new Quota.Limits(-1, 5));
    rounds(2);
    for (int second = 0; names() < 5; second++) {
      assertTrue(second < 30, () -> names() + " of 5 names");
      shares.get(3).quota.take(0, 1);
      shares.get(6).quota.take(0, 1);
      rounds(ROUNDS_PER_SECOND);
    }
    // The last one goes to each of those that want it, in turns.
    shares.get(3).quota.give(0, shares.get(3).quota.usage().names());
    shares.get(6).quota.give(0, shares.get(6).quota.usage().names());
    owner.limit(new Quota.Limits(-1, 1));
    int[] taken = new int[8];
    for (int second = 0; taken[2] == 0 || taken[5] == 0 || taken[0] == 0; second++) {
      assertTrue(second < 60, () -> Arrays.toString(taken));
      for (int i : new int[] {0, 2, 5}) {
        Quota each = shares.get(i).quota;
        if (each.take(0, 1) == null) {
          taken[i]++;
          each.give(0, 1);
        }
      }
      rounds(ROUNDS_PER_SECOND);
    }
  }

  @Test
  void oneThatNeedsMoreThanItsPartAtOnceGetsIt() {
    begin(8);
    owner.limit(new Quota.Limits(-1, 80));
    rounds(2);
    for (Quota each : List.of(shares.get(5).quota, owner)) {
      for (int second = 0; each.take(0, 40) != null; second++) {
        assertTrue(second < 5, () -> each.usage() + " is too little");
        rounds(ROUNDS_PER_SECOND);
      }
      each.give(0, 40);
      rounds(ROUNDS_TO_REST);
    }
  }

  @Test
  void aNamenodeWithoutAShareHasNothingThatIsNotCounted() {
    begin(2);
    assertFalse(owner.isCounted());
    owner.offer(1);
    owner.missing(1);
    assertTrue(owner.isCounted());
    assertTrue(owner.lacksShare());
    round();
    assertFalse(owner.lacksShare());
    owner.offer(1);
    owner.answered(1, shares.get(1).quota.report(), false);
    assertFalse(owner.isCounted());
    assertFalse(owner.lacksShare());
  }

  @Test
  void limitsBelowTheUseAdmitNothing() {
    begin(2);
    owner.limit(new Quota.Limits(-1, 10));
    round();
    round();
    assertNull(shares.get(1).quota.take(0, 5));
    owner.limit(new Quota.Limits(-1, 3));
    round();
    assertTrue(shares.get(1).quota.take(0, 1) != null);
    assertTrue(owner.take(0, 1) != null);
    shares.get(1).quota.give(0, 4);
    round();
    round();
    assertEquals(1, owner.wholeUsage().names());
    assertNull(owner.take(0, 1));
    owner.limit(Quota.Limits.NONE);
    round();
    assertNull(shares.get(1).quota.take(1L << 40, 1000));
  }

  /** What the others have said before may be more than they use by then. */
  @Test
  void aLowerLimitHoldsOnceAllHaveAnswered() {
    begin(3);
    owner.limit(new Quota.Limits(-1, 1000));
    round();
    round();
    for (Share share : shares.subList(1, 3)) {
      assertNull(share.quota.take(0, 100));
    }
    round();
    for (Share share : shares.subList(1, 3)) {
      share.quota.give(0, 90);
    }
    owner.limit(new Quota.Limits(-1, 150));
    round();
    for (int i = 0; i < 100; i++) {
      for (Share share : shares) {
        while (share.quota.take(0, 1) == null) {
          assertTrue(names() <= 150, () -> names() + " names");
        }
      }
      round();
    }
    assertEquals(150, names());
  }
}

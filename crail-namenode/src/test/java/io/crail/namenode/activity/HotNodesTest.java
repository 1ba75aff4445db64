/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.activity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.namenode.TestStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Which nodes are shown as hot, of a sample. The clock is the test's own. */
class HotNodesTest {
  private static final long TICK_NANOS = 50_000_000;
  private static final int TICKS_A_SECOND = 20;

  private final Random random = new Random(TestStore.seed());
  private final Activity activity = new Activity(0);
  private final ClientActivity client = activity.begin(1, Utf8.EMPTY, Utf8.EMPTY);
  private long now;

  /** Gives the node of each lookup. */
  private interface Load {
    long next();
  }

  private void run(int seconds, int perSecond, Load load) {
    for (int tick = 0; tick < seconds * TICKS_A_SECOND; tick++) {
      for (int i = 0; i < perSecond / TICKS_A_SECOND; i++) {
        client.located(load.next(), 0);
        client.served(ClientActivity.Kind.LOOKUP, 1);
      }
      now += TICK_NANOS;
      activity.tick(now);
    }
  }

  private List<Long> hottest(int most) {
    return activity.hotNodes().hottest().stream().map(HotNodes.Hot::id).limit(most).toList();
  }

  /** Nodes with the law of Zipf: number k of all is looked up 1/k as often as the first one. */
  private static double[] zipf(int nodes) {
    double[] sums = new double[nodes];
    double sum = 0;
    for (int i = 0; i < nodes; i++) {
      sum += 1.0 / (i + 1);
      sums[i] = sum;
    }
    return sums;
  }

  private long draw(double[] sums) {
    int found = Arrays.binarySearch(sums, random.nextDouble() * sums[sums.length - 1]);
    return found < 0 ? -found - 1 : found;
  }

  @Test
  void theHottestOfASkewedLoadAreFoundWithTheirRates() {
    int perSecond = 200_000;
    double[] sums = zipf(100_000);
    run(20, perSecond, () -> draw(sums));
    assertTrue(activity.hotNodes().distance() > 20, "not all lookups are looked at");
    List<Long> expected = LongStream.range(0, 5).boxed().toList();
    List<HotNodes.Hot> found = activity.hotNodes().hottest();
    assertTrue(hottest(8).containsAll(expected), found::toString);
    for (HotNodes.Hot each : found.subList(0, 4)) {
      double actual = perSecond / sums[sums.length - 1] / (each.id() + 1);
      assertEquals(actual, each.perSecond(), 0.3 * actual, each::toString);
    }
  }

  /** More than one namenode serves. */
  @Test
  void theRateIsRightHoweverManyLookupsThereAre() {
    int perSecond = 8_000_000;
    run(12, perSecond, () -> -7);
    List<HotNodes.Hot> found = activity.hotNodes().hottest();
    assertEquals(List.of(-7L), hottest(128), found::toString);
    assertEquals(perSecond, found.get(0).perSecond(), 0.15 * perSecond, found::toString);
  }

  @Test
  void fewLookupsAreAllCounted() {
    run(5, 0, () -> 0);
    long[] next = new long[1];
    run(20, 40, () -> next[0]++ % 4);
    List<HotNodes.Hot> found = activity.hotNodes().hottest();
    assertEquals(4, found.size(), found::toString);
    for (HotNodes.Hot each : found) {
      assertEquals(10, each.perSecond(), 1.5, found::toString);
    }
  }

  @Test
  void fewLookupsAreAllCountedAlsoAfterMany() {
    run(10, 1_000_000, () -> random.nextInt(1_000_000));
    assertTrue(activity.hotNodes().distance() > 100, "not all lookups are looked at");
    run(1, 0, () -> 0);
    run(20, TICKS_A_SECOND, () -> -7);
    List<HotNodes.Hot> found = activity.hotNodes().hottest();
    assertEquals(List.of(-7L), hottest(128), found::toString);
    assertEquals(TICKS_A_SECOND, found.get(0).perSecond(), 4, found::toString);
  }

  @Test
  void coldNodesAreNotShown() {
    long[] next = new long[1];
    run(10, 100_000, () -> next[0]++);
    assertEquals(List.of(), activity.hotNodes().hottest());
    // One that is hot is found among them.
    run(10, 100_000, () -> random.nextInt(10) == 0 ? -7 : next[0]++);
    assertEquals(List.of(-7L), hottest(128));
  }

  @Test
  void theMemoryIsBoundedAndOldHeatIsForgotten() {
    run(10, 100_000, () -> random.nextInt(1000));
    assertTrue(hottest(10_000).size() <= HotNodes.CAPACITY);
    run(10, 20_000, () -> 5000 + random.nextInt(2));
    assertEquals(List.of(5000L, 5001L), hottest(2).stream().sorted().toList());
    run(60, 0, () -> 0);
    assertEquals(List.of(), activity.hotNodes().hottest());
  }

  @Test
  void manyThreadsCountWithoutWaiting() throws Exception {
    AtomicBoolean ends = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ClientActivity each = activity.begin(i, Utf8.EMPTY, Utf8.EMPTY);
      threads.add(
          new Thread(
              () -> {
                while (!ends.get()) {
                  each.located(9, 1);
                  each.served(ClientActivity.Kind.LOOKUP, 1);
                }
              }));
    }
    threads.forEach(Thread::start);
    long begun = System.nanoTime();
    while (!hottest(1).equals(List.of(9L)) && System.nanoTime() - begun < 30_000_000_000L) {
      now += TICK_NANOS;
      activity.tick(now);
    }
    List<Long> found = hottest(1);
    ends.set(true);
    assertEquals(List.of(9L), found);
    for (Thread thread : threads) {
      thread.join();
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class OperationCountersTest {
  @Test
  void bucketsHoldTimesUpToTheirBounds() {
    for (int bucket = 0; bucket < OperationCounters.BUCKETS - 1; bucket++) {
      OperationCounters counters = new OperationCounters();
      long most = OperationCounters.upperNanos(bucket);
      counters.served(1, most);
      counters.served(2, 2 * most);
      counters.served(1, most + 1);
      assertEquals(3, counters.count(bucket), "bucket " + bucket);
      assertEquals(1, counters.count(bucket + 1), "bucket " + bucket);
      assertEquals(4, counters.count());
      assertEquals(4 * most + 1, counters.nanos());
    }
  }

  @Test
  void extremesHaveTheirBuckets() {
    OperationCounters counters = new OperationCounters();
    counters.served(5, 0);
    counters.served(1, Long.MAX_VALUE);
    assertEquals(5, counters.count(0));
    assertEquals(1, counters.count(OperationCounters.BUCKETS - 1));
    assertEquals(6, counters.count());
  }

  /** So that it shows how long a request took that a deadline ended. */
  @Test
  void secondsHaveBucketsOfTheirOwn() {
    for (long seconds : new long[] {3, 10, 30, 60}) {
      OperationCounters counters = new OperationCounters();
      counters.served(1, seconds * 1_000_000_000);
      long told = counters.quantileNanos(0.5);
      assertTrue(
          told >= seconds * 500_000_000 && told <= seconds * 2_000_000_000,
          seconds + " s: " + told);
    }
  }

  @Test
  void quantilesAreWithinTheBucketsOfTheirTimes() {
    OperationCounters counters = new OperationCounters();
    assertEquals(0, counters.quantileNanos(0.5));
    for (int i = 0; i < 90; i++) {
      counters.served(1, 1_000);
    }
    for (int i = 0; i < 10; i++) {
      counters.served(1, 1_000_000);
    }
    assertEquals(512, counters.quantileNanos(0), 16);
    assertEquals(1_024, counters.quantileNanos(0.9));
    assertEquals(1 << 20, counters.quantileNanos(1));
    long p95 = counters.quantileNanos(0.95);
    assertTrue(p95 > 1 << 19 && p95 < 1 << 20, p95 + " ns");
    for (double bad : new double[] {-0.1, 1.1, Double.NaN}) {
      assertThrows(IllegalArgumentException.class, () -> counters.quantileNanos(bad));
    }
    counters.served(1000, Long.MAX_VALUE);
    assertEquals(
        OperationCounters.upperNanos(OperationCounters.BUCKETS - 2), counters.quantileNanos(0.99));
    counters.reset();
    assertEquals(0, counters.quantileNanos(0.99));
  }
}

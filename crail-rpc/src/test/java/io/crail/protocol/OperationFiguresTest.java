/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class OperationFiguresTest {
  @Test
  void bucketsHoldTimesUpToTheirBounds() {
    for (int bucket = 0; bucket < OperationFigures.BUCKETS - 1; bucket++) {
      OperationFigures figures = new OperationFigures();
      long most = OperationFigures.upperNanos(bucket);
      figures.served(1, most);
      figures.served(2, 2 * most);
      figures.served(1, most + 1);
      assertEquals(3, figures.count(bucket), "bucket " + bucket);
      assertEquals(1, figures.count(bucket + 1), "bucket " + bucket);
      assertEquals(4, figures.count());
      assertEquals(4 * most + 1, figures.nanos());
    }
  }

  @Test
  void extremesHaveTheirBuckets() {
    OperationFigures figures = new OperationFigures();
    figures.served(5, 0);
    figures.served(1, Long.MAX_VALUE);
    assertEquals(5, figures.count(0));
    assertEquals(1, figures.count(OperationFigures.BUCKETS - 1));
    assertEquals(6, figures.count());
  }

  /** Of what a deadline ends, it is seen how long it took. */
  @Test
  void secondsAreToldApart() {
    for (long seconds : new long[] {3, 10, 30, 60}) {
      OperationFigures figures = new OperationFigures();
      figures.served(1, seconds * 1_000_000_000);
      long told = figures.quantileNanos(0.5);
      assertTrue(
          told >= seconds * 500_000_000 && told <= seconds * 2_000_000_000,
          seconds + " s: " + told);
    }
  }

  @Test
  void quantilesAreWithinTheBucketsOfTheirTimes() {
    OperationFigures figures = new OperationFigures();
    assertEquals(0, figures.quantileNanos(0.5));
    for (int i = 0; i < 90; i++) {
      figures.served(1, 1_000);
    }
    for (int i = 0; i < 10; i++) {
      figures.served(1, 1_000_000);
    }
    assertEquals(512, figures.quantileNanos(0), 16);
    assertEquals(1_024, figures.quantileNanos(0.9));
    assertEquals(1 << 20, figures.quantileNanos(1));
    long p95 = figures.quantileNanos(0.95);
    assertTrue(p95 > 1 << 19 && p95 < 1 << 20, p95 + " ns");
    for (double bad : new double[] {-0.1, 1.1, Double.NaN}) {
      assertThrows(IllegalArgumentException.class, () -> figures.quantileNanos(bad));
    }
    figures.served(1000, Long.MAX_VALUE);
    assertEquals(
        OperationFigures.upperNanos(OperationFigures.BUCKETS - 2), figures.quantileNanos(0.99));
    figures.reset();
    assertEquals(0, figures.quantileNanos(0.99));
  }
}

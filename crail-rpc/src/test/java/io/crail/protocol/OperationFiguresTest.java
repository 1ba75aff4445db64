/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
}

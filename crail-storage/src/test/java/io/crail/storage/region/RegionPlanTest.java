/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigType;
import io.crail.protocol.part.Extent;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RegionPlanTest {
  private static final int MIB = 1 << 20;
  private static final ConfigKey<Long> LIMIT =
      ConfigKey.of("test.limit", ConfigType.BYTES, "1g", "What is lent.");
  private static final ConfigKey<Long> LENGTH =
      ConfigKey.of("test.length", ConfigType.BYTES, "256m", "A region.");

  private static List<Integer> lengths(long limit, long allocationSize, int namenodes) {
    return new RegionPlan(LIMIT, LENGTH)
        .lengths(limit, allocationSize, namenodes, Extent.MIN_LENGTH);
  }

  @Test
  void lengthsAreMultiplesOfTheUnit() {
    RegionPlan plan = new RegionPlan(LIMIT, LENGTH);
    assertEquals(List.of(4 * MIB), plan.lengths(5L * MIB, 256L * MIB, 1, 2 * MIB));
    assertEquals(Collections.nCopies(2, 2 * MIB), plan.lengths(5L * MIB, 3L * MIB, 1, 2 * MIB));
    assertThrows(ConfigException.class, () -> plan.lengths(2L * MIB - 1, 1L * MIB, 1, 2 * MIB));
  }

  @Test
  void cutsTheLimitIntoWholeRegions() {
    assertEquals(Collections.nCopies(4, 256 * MIB), lengths(1024L * MIB, 256L * MIB, 1));
    assertEquals(Collections.nCopies(3, 256 * MIB), lengths(1023L * MIB, 256L * MIB, 3));
  }

  @Test
  void makesSmallerOnesWhereTheLimitAsksForIt() {
    assertEquals(List.of(100 * MIB), lengths(100L * MIB, 256L * MIB, 1));
    assertEquals(Collections.nCopies(3, 32 * MIB), lengths(100L * MIB, 256L * MIB, 3));
    assertEquals(List.of(4096), lengths(4096, 256L * MIB, 1));
  }

  @Test
  void everyNamenodeGetsARegionOfWholeBlocks() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      int namenodes = 1 + random.nextInt(8);
      long limit = (namenodes * 16L + random.nextInt(10_000)) * MIB + random.nextInt(MIB);
      List<Integer> lengths = lengths(limit, 256L * MIB, namenodes);
      assertTrue(lengths.size() >= namenodes);
      assertEquals(0, lengths.get(0) % MIB, () -> limit + " for " + namenodes);
      long lent = lengths.stream().mapToLong(Integer::longValue).sum();
      assertTrue(lent <= limit && lent > limit / 2, () -> lent + " of " + limit);
    }
  }

  @Test
  void namesTheKeyWhoseValueCannotBe() {
    String message =
        assertThrows(ConfigException.class, () -> lengths(8191, 4096, 2 + 1)).getMessage();
    assertTrue(message.contains(LIMIT.name()), message);
    message = assertThrows(ConfigException.class, () -> lengths(1L << 40, 4096, 1)).getMessage();
    assertTrue(message.contains(LENGTH.name()), message);
  }
}

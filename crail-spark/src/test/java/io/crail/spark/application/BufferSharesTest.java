/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BufferSharesTest {
  private static final long MIB = 1 << 20;

  @ParameterizedTest
  @CsvSource({
    "1048576, 524288, 1024, 512, 256",
    "1048576, 1048576, 1024, 512, 128",
    "1048576, 524288, 64, 32, 16",
    "1048576, 524288, 4, 2, 1",
    "1048576, 524288, 3, 1, 1",
    "1048576, 524288, 2, 0, 1",
    "1048576, 1048576, 4, 1, 1",
    "1048576, 1048576, 3, 0, 1",
    "1048576, 524288, 0, 0, 1",
    "4096, 2048, 1, 0.5, 64",
  })
  void eachHasBuffers(long buffer, long slice, long all, double fetched, int writers) {
    BufferShares shares = BufferShares.of(buffer, slice, all * MIB);
    assertEquals(new BufferShares((long) (fetched * MIB), writers), shares);
    long buffers = all * MIB / buffer;
    long taken = shares.fetchedBytes() / buffer + writers * (buffer == slice ? 2 : 1);
    assertTrue(buffers < 3 || taken < buffers, "and some are left for those who read meanwhile");
  }

  @Test
  void theConfigurationAndJavaBoundAllOfThem() {
    Configuration small = Configuration.builder().set("crail.cachelimit", "64m", "a test").build();
    assertEquals(new BufferShares(32 * MIB, 16), BufferShares.of(small));
    Configuration huge = Configuration.builder().set("crail.cachelimit", "1000g", "a test").build();
    assertTrue(BufferShares.of(huge).fetchedBytes() < 500_000 * MIB);
  }
}

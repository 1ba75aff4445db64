/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.common.config.Configuration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShuffleManager42Test {
  /** The JVM allocates no more outside the heap than there is heap. */
  @ParameterizedTest
  @CsvSource({"64m,33554432", "1024g,0"})
  void fetchedBlocksHaveHalfOfTheBuffersThatThereCanBe(String limit, long expected) {
    Configuration configuration =
        Configuration.builder().set("crail.cachelimit", limit, "a test").build();
    long half = expected == 0 ? Runtime.getRuntime().maxMemory() / 2 : expected;
    assertEquals(half, ShuffleManager42.limits(configuration).memoryBytes());
  }
}

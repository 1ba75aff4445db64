/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Short runs of {@code ci/torture}. */
class ModelSystemTest {
  private static final int SECONDS = Integer.getInteger("crail.test.seconds", 20);
  private static final int LONGEST_FAULT_MILLIS = 5000;

  @ParameterizedTest(name = "mapped: {0}, namenodes: {1}")
  @CsvSource({"true, 1", "false, 2"})
  void findsNothingWrong(boolean mapped, int namenodes) throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    ModelRun.Parameters parameters =
        new ModelRun.Parameters(
            seed, SECONDS, mapped, namenodes, 2, 3, 3, 48, LONGEST_FAULT_MILLIS, false, false);
    assertEquals(List.of(), ModelRun.of(parameters, null), parameters.command());
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.nvmf.CommandSlots;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FabricControllerTest {
  /** One entry stays empty, and each other one needs a slot. */
  @ParameterizedTest
  @CsvSource({
    "128, 32, 33",
    "128, 1, 2",
    "20, 32, 20",
    "1, 32, 2",
    "65536, 4094, 4095",
    "65536, 4095, 4096",
    "65536, 4096, 4096"
  })
  void theQueueHasAsManyEntriesAsThereAreSlotsFor(int most, int depth, int entries) {
    assertEquals(entries, FabricController.entries(most, depth));
    assertEquals(4095, CommandSlots.MOST);
  }
}

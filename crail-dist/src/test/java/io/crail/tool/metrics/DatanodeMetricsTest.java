/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.storage.daemon.Standing;
import org.junit.jupiter.api.Test;

class DatanodeMetricsTest {
  @Test
  void onlyANamenodeThatHasRegisteredItKnowsIt() {
    for (Standing.State state : Standing.State.values()) {
      boolean isKnown = DatanodeMetrics.isKnown(new Standing("host:1", state, 0));
      assertEquals(state == Standing.State.REGISTERED, isKnown, state::toString);
    }
  }
}

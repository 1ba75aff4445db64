/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.storage.daemon.Registration.Standing;
import org.junit.jupiter.api.Test;

class DatanodeMetricsTest {
  @Test
  void onlyANamenodeThatHasRegisteredItKnowsIt() {
    for (String state : new String[] {"unknown", "lending", "registered", "removed"}) {
      boolean isKnown = DatanodeMetrics.isKnown(new Standing("host:1", state, 0));
      assertEquals(state.equals("registered"), isKnown, state);
    }
  }
}

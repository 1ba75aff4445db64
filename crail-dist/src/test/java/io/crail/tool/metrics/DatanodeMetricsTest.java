/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.storage.daemon.RegistrationStatus;
import org.junit.jupiter.api.Test;

class DatanodeMetricsTest {
  @Test
  void onlyANamenodeThatHasRegisteredItKnowsIt() {
    for (RegistrationStatus.State state : RegistrationStatus.State.values()) {
      boolean isKnown = DatanodeMetrics.isKnown(new RegistrationStatus("host:1", state, 0));
      assertEquals(state == RegistrationStatus.State.REGISTERED, isKnown, state::toString);
    }
  }
}

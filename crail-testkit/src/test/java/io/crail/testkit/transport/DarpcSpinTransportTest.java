/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.darpc.DarpcKeys;
import io.crail.rpc.rdma.RdmaKeys;
import org.junit.jupiter.api.Tag;

/** Nobody who polls ever sleeps. */
@Tag("rdma")
class DarpcSpinTransportTest extends DarpcTransportContract {
  DarpcSpinTransportTest() {
    super(RdmaKeys.Polling.SPIN, DarpcKeys.Type.PASSIVE);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.darpc.DarpcKeys;
import io.crail.rpc.rdma.RdmaKeys;
import org.junit.jupiter.api.Tag;

/** The thread that waits polls, and sleeps at once. */
@Tag("rdma")
class DarpcTransportTest extends DarpcTransportContract {
  DarpcTransportTest() {
    super(RdmaKeys.Polling.EVENT, DarpcKeys.Type.PASSIVE);
  }
}

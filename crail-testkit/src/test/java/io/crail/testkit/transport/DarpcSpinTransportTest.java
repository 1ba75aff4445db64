/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.WaitKeys;
import org.junit.jupiter.api.Tag;

/** Threads that poll never sleep. */
@Tag("rdma")
@Tag("repeat")
class DarpcSpinTransportTest extends DarpcTransportContract {
  DarpcSpinTransportTest() {
    super("always", WaitKeys.Driver.WAITER);
  }
}

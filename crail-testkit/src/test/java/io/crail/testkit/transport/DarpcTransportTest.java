/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.WaitKeys;
import org.junit.jupiter.api.Tag;

/** The thread that waits polls, and sleeps at once. */
@Tag("rdma")
class DarpcTransportTest extends DarpcTransportContract {
  DarpcTransportTest() {
    super("0", WaitKeys.Driver.WAITER);
  }
}

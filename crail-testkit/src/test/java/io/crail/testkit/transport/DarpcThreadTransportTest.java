/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.WaitKeys;
import org.junit.jupiter.api.Tag;

/** A thread of the client's own polls, for a while before it sleeps. */
@Tag("rdma")
@Tag("repeat")
class DarpcThreadTransportTest extends DarpcTransportContract {
  DarpcThreadTransportTest() {
    super("50", WaitKeys.Driver.THREAD);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.common.config.Configuration;
import io.crail.rpc.Transport;
import io.crail.rpc.darpc.DarpcKeys;
import io.crail.rpc.darpc.DarpcTransport;
import io.crail.rpc.rdma.RdmaKeys;
import io.crail.testkit.contract.TransportContract;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.verbs.Verbs;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/** The contract over RDMA send and receive, between two devices. */
abstract class DarpcTransportContract extends TransportContract {
  private final RdmaKeys.Polling polling;
  private final DarpcKeys.Type type;

  /**
   * Creates the tests.
   *
   * @param polling how both sides wait
   * @param type who polls for a client
   */
  DarpcTransportContract(RdmaKeys.Polling polling, DarpcKeys.Type type) {
    this.polling = polling;
    this.type = type;
  }

  @BeforeAll
  static void requireRdma() {
    Assumptions.assumeTrue(
        Verbs.check().usable(), () -> "no RDMA here: " + Verbs.check().problem());
  }

  @Override
  protected Transport newTransport() {
    return new DarpcTransport(
        Configuration.builder()
            .set(RdmaKeys.POLLING, polling)
            .set(DarpcKeys.POLLING, polling)
            .set(DarpcKeys.TYPE, type)
            .set(DarpcKeys.AFFINITY, "")
            .build());
  }

  @Override
  protected InetSocketAddress anyAddress() {
    return new InetSocketAddress(RdmaHost.SERVER, 0);
  }
}

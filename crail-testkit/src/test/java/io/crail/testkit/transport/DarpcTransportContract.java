/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.common.config.Configuration;
import io.crail.rpc.Transport;
import io.crail.rpc.WaitKeys;
import io.crail.rpc.darpc.DarpcKeys;
import io.crail.rpc.darpc.DarpcTransport;
import io.crail.testkit.contract.TransportContract;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.verbs.Availability;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/** The contract over RDMA send and receive, between two devices. */
abstract class DarpcTransportContract extends TransportContract {
  private final String spinTime;
  private final WaitKeys.Driver driver;

  /**
   * Creates the tests.
   *
   * @param spinTime how long both sides ask before they sleep
   * @param driver who polls for a client
   */
  DarpcTransportContract(String spinTime, WaitKeys.Driver driver) {
    this.spinTime = spinTime;
    this.driver = driver;
  }

  @BeforeAll
  static void requireRdma() {
    Assumptions.assumeTrue(
        Availability.check().usable(), () -> "no RDMA here: " + Availability.check().problem());
  }

  @Override
  protected Transport newTransport() {
    return new DarpcTransport(
        Configuration.builder()
            .set(WaitKeys.SPIN_TIME, spinTime)
            .set(WaitKeys.CLIENT_DRIVER, driver)
            .set(DarpcKeys.AFFINITY, "")
            .build());
  }

  @Override
  protected InetSocketAddress anyAddress() {
    return new InetSocketAddress(RdmaHost.SERVER, 0);
  }
}

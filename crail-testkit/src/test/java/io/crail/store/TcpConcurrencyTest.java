/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Clients of the same nodes over TCP. */
class TcpConcurrencyTest extends ConcurrencyContract {
  TcpConcurrencyTest() {
    super(TestCluster.Tier.TCP);
  }
}

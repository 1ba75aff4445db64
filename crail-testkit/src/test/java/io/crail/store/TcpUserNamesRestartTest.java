/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Owners over TCP. */
class TcpUserNamesRestartTest extends UserNamesRestartContract {
  TcpUserNamesRestartTest() {
    super(TestCluster.Tier.TCP);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Restarts of a namenode over TCP. */
class TcpNamenodeRestartTest extends NamenodeRestartContract {
  TcpNamenodeRestartTest() {
    super(TestCluster.Tier.TCP, "10s");
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Multi-files over TCP. */
class TcpMultiFileTest extends MultiFileContract {
  TcpMultiFileTest() {
    super(TestCluster.Tier.TCP);
  }
}

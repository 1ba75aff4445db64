/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Values at the namenode over TCP. */
class TcpSmallKeyValueTest extends SmallKeyValueContract {
  TcpSmallKeyValueTest() {
    super(TestCluster.Tier.TCP);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Values that the namenode does not keep over TCP. */
class TcpFullKeyValueTest extends FullKeyValueContract {
  TcpFullKeyValueTest() {
    super(TestCluster.Tier.TCP);
  }
}

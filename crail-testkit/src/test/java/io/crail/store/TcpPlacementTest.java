/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Placement over TCP, where both classes are of one tier. */
class TcpPlacementTest extends PlacementContract {
  TcpPlacementTest() {
    super(TestCluster.Tier.TCP, "127.0.0.1");
  }
}

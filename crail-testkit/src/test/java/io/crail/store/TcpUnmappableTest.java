/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Regions of the TCP tier that cannot be mapped. */
class TcpUnmappableTest extends UnmappableContract {
  TcpUnmappableTest() {
    super(TestCluster.Tier.TCP);
  }
}

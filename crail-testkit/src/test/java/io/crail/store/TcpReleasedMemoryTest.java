/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Memory of idle streams over TCP. */
class TcpReleasedMemoryTest extends ReleasedMemoryContract {
  TcpReleasedMemoryTest() {
    super(TestCluster.Tier.TCP);
  }
}

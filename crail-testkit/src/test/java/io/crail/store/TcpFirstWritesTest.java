/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** First writes over TCP. */
class TcpFirstWritesTest extends FirstWritesContract {
  TcpFirstWritesTest() {
    super(TestCluster.Tier.TCP);
  }
}

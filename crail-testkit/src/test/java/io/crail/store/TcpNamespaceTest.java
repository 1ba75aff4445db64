/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Names and nodes over TCP. */
class TcpNamespaceTest extends NamespaceContract {
  TcpNamespaceTest() {
    super(TestCluster.Tier.TCP);
  }
}

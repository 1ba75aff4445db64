/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Deletes over TCP. */
class TcpDeleteWhileWritingTest extends DeleteWhileWritingContract {
  TcpDeleteWhileWritingTest() {
    super(TestCluster.Tier.TCP);
  }
}

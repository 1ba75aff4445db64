/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** What lookups over TCP allocate: Netty's entry for what is written, on each side. */
class TcpLookupAllocationTest extends LookupAllocationContract {
  TcpLookupAllocationTest() {
    super(160);
  }

  @Override
  TestCluster newCluster() throws Exception {
    return TestCluster.start();
  }
}

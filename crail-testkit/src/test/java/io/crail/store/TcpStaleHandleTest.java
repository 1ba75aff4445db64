/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Stale handles over TCP. */
class TcpStaleHandleTest extends StaleHandleContract {
  @Override
  TestCluster newCluster() throws Exception {
    return TestCluster.start("crail.storage.localmap=false");
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Stale handles over mapped regions. */
class MappedStaleHandleTest extends StaleHandleContract {
  @Override
  TestCluster newCluster() throws Exception {
    return TestCluster.start("crail.storage.localmap=true");
  }
}

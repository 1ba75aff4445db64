/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Stores over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaStoreLifecycleTest extends StoreLifecycleContract {
  RdmaStoreLifecycleTest() {
    super(TestCluster.Tier.RDMA);
  }
}

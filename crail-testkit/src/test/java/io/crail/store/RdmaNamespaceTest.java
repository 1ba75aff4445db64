/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Names and nodes over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaNamespaceTest extends NamespaceContract {
  RdmaNamespaceTest() {
    super(TestCluster.Tier.RDMA);
  }
}

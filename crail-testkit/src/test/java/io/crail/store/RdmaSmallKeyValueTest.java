/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Values at the namenode over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaSmallKeyValueTest extends SmallKeyValueContract {
  RdmaSmallKeyValueTest() {
    super(TestCluster.Tier.RDMA);
  }
}

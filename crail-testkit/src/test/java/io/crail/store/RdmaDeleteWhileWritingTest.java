/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Deletes over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaDeleteWhileWritingTest extends DeleteWhileWritingContract {
  RdmaDeleteWhileWritingTest() {
    super(TestCluster.Tier.RDMA);
  }
}

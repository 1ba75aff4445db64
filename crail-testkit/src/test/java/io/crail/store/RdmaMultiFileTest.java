/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Multi-files over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaMultiFileTest extends MultiFileContract {
  RdmaMultiFileTest() {
    super(TestCluster.Tier.RDMA);
  }
}

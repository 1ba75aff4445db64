/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Write leases over RDMA. */
@Tag("rdma")
class RdmaWriteLeaseTest extends WriteLeaseContract {
  RdmaWriteLeaseTest() {
    // What is deleted rests for so long.
    super(TestCluster.Tier.RDMA, "crail.lease=10s", "crail.namenode.freemargin=1s");
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Restarts of a namenode over RDMA, where no datanode refuses anything. */
@Tag("rdma")
@LongTest
class RdmaNamenodeRestartTest extends NamenodeRestartContract {
  RdmaNamenodeRestartTest() {
    super(TestCluster.Tier.RDMA, "5s");
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Values whose bytes all lie at datanodes, over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaLargeKeyValueTest extends KeyValueContract {
  RdmaLargeKeyValueTest() {
    super(TestCluster.Tier.RDMA, "crail.namenode.smallvalue=0");
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Values at datanodes behind RDMA and TCP. */
@Tag("rdma")
@LongTest
class MixedLargeKeyValueTest extends KeyValueContract {
  MixedLargeKeyValueTest() {
    super(TestCluster.Tier.MIXED, "crail.namenode.smallvalue=0");
  }
}

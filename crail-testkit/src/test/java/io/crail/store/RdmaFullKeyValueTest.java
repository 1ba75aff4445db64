/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Values that the namenode does not keep over RDMA. */
@Tag("rdma")
@Tag("repeat")
@LongTest
class RdmaFullKeyValueTest extends FullKeyValueContract {
  RdmaFullKeyValueTest() {
    super(TestCluster.Tier.RDMA);
  }
}

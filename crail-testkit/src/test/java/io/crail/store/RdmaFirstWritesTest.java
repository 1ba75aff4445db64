/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** First writes over RDMA. */
@Tag("rdma")
class RdmaFirstWritesTest extends FirstWritesContract {
  RdmaFirstWritesTest() {
    super(TestCluster.Tier.RDMA);
  }
}

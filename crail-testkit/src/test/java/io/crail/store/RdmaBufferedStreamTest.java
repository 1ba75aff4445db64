/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Buffered streams over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaBufferedStreamTest extends BufferedStreamContract {
  RdmaBufferedStreamTest() {
    super(TestCluster.Tier.RDMA);
  }
}

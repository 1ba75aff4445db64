/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Memory of idle streams over RDMA. */
@Tag("rdma")
class RdmaReleasedMemoryTest extends ReleasedMemoryContract {
  RdmaReleasedMemoryTest() {
    super(TestCluster.Tier.RDMA);
  }
}

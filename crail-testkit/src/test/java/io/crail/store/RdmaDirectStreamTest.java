/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Direct streams over RDMA. */
@Tag("rdma")
class RdmaDirectStreamTest extends DirectStreamContract {
  RdmaDirectStreamTest() {
    super(false, TestCluster.Tier.RDMA);
  }
}

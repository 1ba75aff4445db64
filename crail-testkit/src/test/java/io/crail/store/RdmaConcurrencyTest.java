/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Clients of the same nodes over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaConcurrencyTest extends ConcurrencyContract {
  RdmaConcurrencyTest() {
    super(TestCluster.Tier.RDMA);
  }
}

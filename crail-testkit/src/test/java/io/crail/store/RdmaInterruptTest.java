/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Interrupts over RDMA. */
@Tag("rdma")
class RdmaInterruptTest extends InterruptContract {
  RdmaInterruptTest() {
    super(false, TestCluster.Tier.RDMA);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.testkit.rdma.TwoHosts;
import org.junit.jupiter.api.Tag;

/** Placement where one class lies behind RDMA, and the other one behind TCP. */
@Tag("rdma")
@TwoHosts
class MixedPlacementTest extends PlacementContract {
  MixedPlacementTest() {
    super(TestCluster.Tier.MIXED, "10.9.0.1");
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Owners over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaUserNamesRestartTest extends UserNamesRestartContract {
  RdmaUserNamesRestartTest() {
    super(TestCluster.Tier.RDMA);
  }
}

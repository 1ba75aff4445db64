/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Regions of the RDMA tier that cannot be mapped. */
@Tag("rdma")
class RdmaUnmappableTest extends UnmappableContract {
  RdmaUnmappableTest() {
    super(TestCluster.Tier.RDMA);
  }
}

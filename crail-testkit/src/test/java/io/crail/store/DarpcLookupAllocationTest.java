/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.rdma.RdmaHost;
import org.junit.jupiter.api.Tag;

/** What lookups over RDMA allocate. */
@Tag("rdma")
class DarpcLookupAllocationTest extends LookupAllocationContract {
  DarpcLookupAllocationTest() {
    super(0);
  }

  @Override
  TestCluster newCluster() throws Exception {
    return TestCluster.of(
        EmbeddedCrail.builder()
            .host(RdmaHost.SERVER)
            .storage(32 << 20)
            .set("crail.namenode.rpctype", "darpc")
            // The test machine may be emulated.
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .set("crail.lease", "60s")
            .start());
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Clients of the same nodes over RDMA and TCP at once. */
@Tag("rdma")
@LongTest
class MixedConcurrencyTest extends ConcurrencyContract {
  MixedConcurrencyTest() {
    super(TestCluster.Tier.MIXED);
  }
}

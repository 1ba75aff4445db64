/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Direct streams over RDMA and TCP at once. */
@Tag("rdma")
@Tag("repeat")
@LongTest
class MixedDirectStreamTest extends DirectStreamContract {
  MixedDirectStreamTest() {
    super(false, TestCluster.Tier.MIXED);
  }
}

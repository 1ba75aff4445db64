/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** First writes over RDMA and TCP at once. */
@Tag("rdma")
@Tag("repeat")
@LongTest
class MixedFirstWritesTest extends FirstWritesContract {
  MixedFirstWritesTest() {
    super(TestCluster.Tier.MIXED);
  }
}

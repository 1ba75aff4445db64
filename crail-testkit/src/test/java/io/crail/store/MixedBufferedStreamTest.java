/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Buffered streams over RDMA and TCP at once. */
@Tag("rdma")
@Tag("repeat")
@LongTest
class MixedBufferedStreamTest extends BufferedStreamContract {
  MixedBufferedStreamTest() {
    super(TestCluster.Tier.MIXED);
  }
}

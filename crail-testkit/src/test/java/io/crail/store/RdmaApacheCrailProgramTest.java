/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import org.junit.jupiter.api.Tag;

/** Programs of Apache Crail over RDMA. */
@Tag("rdma")
@Tag("repeat")
class RdmaApacheCrailProgramTest extends ApacheCrailProgramContract {
  RdmaApacheCrailProgramTest() {
    super(TestCluster.Tier.RDMA);
  }
}

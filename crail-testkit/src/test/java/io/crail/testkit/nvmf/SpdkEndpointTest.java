/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The same over the initiator that SPDK drives, where its native library is. */
@Tag("once")
class SpdkEndpointTest extends NvmfEndpointTest {
  @BeforeAll
  static void needsSpdk() {
    TestInitiators.assumePresent(TestInitiators.SPDK);
  }

  @Override
  String initiator() {
    return TestInitiators.SPDK;
  }
}

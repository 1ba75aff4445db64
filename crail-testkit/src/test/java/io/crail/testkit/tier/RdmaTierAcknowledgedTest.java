/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.common.config.Configuration;
import io.crail.storage.rdma.RdmaStorageKeys;
import org.junit.jupiter.api.Tag;

/** The RDMA tier that relies on acknowledgements, and registers all memory. */
@Tag("rdma")
class RdmaTierAcknowledgedTest extends RdmaTierContract {
  @Override
  Configuration.Builder settings() {
    return super.settings()
        .set(RdmaStorageKeys.WRITE_FLUSH, false)
        .set(RdmaStorageKeys.COPY_LIMIT, 0);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import java.util.Map;

/** Tests the whole store over TCP. */
class WholeStoreSystemTest extends WholeStoreContract {
  @Override
  ProcessCluster newCluster() throws Exception {
    return ProcessCluster.start(2, 2, Map.of());
  }
}

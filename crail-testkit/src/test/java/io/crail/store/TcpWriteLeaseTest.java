/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailStore;
import org.junit.jupiter.api.Test;

/** Write leases over TCP, where what is deleted is free at once. */
class TcpWriteLeaseTest {
  @Test
  void aStoreThatIsNearlyEmptyIsNotExhaustedByCreatesAndDeletes() throws Exception {
    try (TestCluster cluster = TestCluster.start()) {
      CrailStore store = cluster.newStore();
      byte[] bytes = new byte[2 << 20];
      for (int i = 0; i < 100; i++) {
        Bytes.append(Bytes.createFile(store, "/loop"), bytes);
        store.delete("/loop", false).get();
      }
      assertEquals(0, cluster.usage().usedBytes());
    }
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.config.ConfigException;
import io.crail.nvmf.Digests;
import io.crail.nvmf.NvmeTransport;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LentTargetsTest {
  private static TargetAddress target(
      NvmeTransport transport, String host, String nqn, Integer... namespaces) {
    return new TargetAddress(
        transport, InetSocketAddress.createUnresolved(host, 4420), nqn, List.of(namespaces));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nqn.2026-11.org.example:a",
        "http://a",
        "://",
        "//",
        "/",
        "rdma://10.0.0.1:4420/nqn.b",
        "a,b",
        "nqn.\u00e4\u4e2d\ud83d\ude00"
      })
  void clientsReadWhatWasAnnounced(String nqn) throws Exception {
    LentTargets all =
        new LentTargets(
            new Digests(true, false),
            List.of(
                target(NvmeTransport.TCP, "10.0.0.1", nqn),
                target(NvmeTransport.RDMA, "fe80::1", nqn, 1, 20),
                target(NvmeTransport.TCP, "a.b", nqn, 3)));
    assertEquals(all, LentTargets.parse(all.details()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"http://10.0.0.1:4420/nqn.a", "://10.0.0.1/nqn.a", "tcp:///nqn.a", "tcp://a"})
  void unknownTransportsAreRefused(String text) {
    assertThrows(ConfigException.class, () -> TargetAddress.parse(text));
  }

  /** The numbers of namespaces have 32 bits, and no sign. */
  @Test
  void aKeyNamesATargetAndANamespace() {
    for (int target : new int[] {0, 1, 70_000}) {
      for (int namespace : new int[] {1, Integer.MAX_VALUE, Integer.MIN_VALUE, -2}) {
        long key = LentTargets.key(target, namespace);
        assertEquals(target, LentTargets.target(key));
        assertEquals(namespace, LentTargets.namespace(key));
      }
    }
    assertNotEquals(LentTargets.key(0, -2), LentTargets.key(1, -2));
  }
}

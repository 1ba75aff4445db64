/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the host of NVMe/TCP against the target of the machine's kernel. */
@Tag("rdma")
@TwoHosts
class KernelTargetTest {
  private static final String NQN = "nqn.2026-11.io.crail:memory";
  private static final int PORT = 4421;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());

  private static TestHost.Start start(String nqn, boolean headerDigest, boolean dataDigest) {
    return TestHost.Start.at(
            new Subsystem(
                NvmeTransport.TCP,
                new InetSocketAddress(RdmaHost.SERVER, PORT),
                nqn,
                TestHost.Start.HOST))
        .digests(headerDigest, dataDigest)
        .limits(TestHost.Start.limits(16, 60_000, 60_000));
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, true"})
  void movesWhatItIsAskedTo(boolean headerDigest, boolean dataDigest) throws Exception {
    System.out.println("-Dcrail.seed=" + seed);
    try (TestHost host = new TestHost(start(NQN, headerDigest, dataDigest))) {
      List<NamespaceData> namespaces = host.controller().namespaces();
      assertEquals(2, namespaces.size());
      assertEquals(512, namespaces.get(0).blockLength());
      assertEquals(256L << 20, namespaces.get(0).bytes());
      assertEquals(4096, namespaces.get(1).blockLength());
      assertTrue(host.controller().data().inCapsule() >= 4096, host.controller().data()::toString);
      Moves.check(host, new Random(seed), number -> null);
    }
  }

  @Test
  void anUnknownSubsystemIsSaidInWords() {
    try (TestHost host = new TestHost(start("nqn.2026-11.io.crail:none", false, false))) {
      CrailException refusal = assertThrows(CrailException.class, host::controller);
      assertTrue(refusal.getMessage().contains("no such subsystem"), refusal.getMessage());
    }
  }
}

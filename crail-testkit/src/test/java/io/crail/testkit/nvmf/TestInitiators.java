/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.Digests;
import io.crail.nvmf.InitiatorProvider;
import io.crail.nvmf.NvmeTransport;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Assumptions;

/** The initiators that tests may name, and which of them can be used here. */
public final class TestInitiators {
  /** Our own, which is always there. */
  public static final String JAVA = InitiatorProvider.JAVA;

  /** The one that SPDK drives, which needs its native library. */
  public static final String SPDK = "spdk";

  private TestInitiators() {}

  static InitiatorProvider provider(String name, NvmeTransport transport) throws CrailException {
    for (InitiatorProvider each : ServiceLoader.load(InitiatorProvider.class)) {
      if (each.name().equals(name) && each.serves(transport)) {
        return each;
      }
    }
    throw ErrorCode.UNSUPPORTED.exception("no initiator " + name);
  }

  /** Skips the test, with the reason, when an initiator cannot be used here. */
  public static void assumePresent(String name) {
    Configuration configuration = Configuration.builder().build();
    try (NettyTransport transport = new NettyTransport(configuration);
        ClientLoop loop = transport.newClientLoop("nvmf-assume")) {
      CompletableFuture<String> problem = new CompletableFuture<>();
      loop.submit(
          () -> {
            try {
              provider(name, NvmeTransport.TCP).create(loop, configuration, Digests.NONE).close();
              problem.complete("");
            } catch (CrailException e) {
              problem.complete(e.getMessage());
            }
          });
      Assumptions.assumeTrue(problem.join().isEmpty(), problem.join());
    }
  }
}

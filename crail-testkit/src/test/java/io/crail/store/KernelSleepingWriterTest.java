/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.nvmf.NvmeTransport;
import io.crail.testkit.nvmf.KernelTarget;
import io.crail.testkit.rdma.TwoHosts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The same on the target of the test machine's kernel, over TCP. */
@Tag("rdma")
@TwoHosts
@EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
class KernelSleepingWriterTest extends NvmfSleepingWriterTest {
  @Override
  String target() throws Exception {
    KernelTarget.listen();
    return KernelTarget.text(NvmeTransport.TCP, 2);
  }

  @Override
  String keepAlive() {
    return "5s";
  }

  @Override
  String timeout() {
    return "60s";
  }
}

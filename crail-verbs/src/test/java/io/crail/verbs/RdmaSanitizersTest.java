/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** The library under the sanitizers, on real devices. */
@Tag("rdma")
@Tag("sanitizers")
class RdmaSanitizersTest {
  @Test
  @DisabledIfSystemProperty(
      named = "crail.test.rdma.device",
      matches = ".*",
      disabledReason = "needs the two hosts of bin/rdma-vm")
  void allTestsInCPass() throws Exception {
    Path program = Library.file().getParent().resolve("verbs-tests");
    assumeTrue(Files.exists(program), "the C tests are not built (make -C crail-verbs check)");
    Process tests =
        new ProcessBuilder("timeout", "-s", "KILL", "60", program.toString(), "--rdma")
            .redirectErrorStream(true)
            .start();
    String output = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, tests.waitFor(), output);
  }

  /** Slow: both the machine and the sanitizers cost time. */
  @Test
  void disniAndDarpcPassUnderTheSanitizers() throws Exception {
    assumeTrue(Boolean.getBoolean("crail.test.long"), "only among the long tests");
    Sanitizers.run(DisniTest.class, QueuePairTest.class);
  }
}

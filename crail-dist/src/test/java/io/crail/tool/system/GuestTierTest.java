/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.embedded.EmbeddedCrail;
import io.crail.tool.Main;
import io.crail.tool.Ran;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a tier which only its service file names has its place in all commands. */
@Tag("once")
class GuestTierTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private Path directory;

  private String printed(String... arguments) {
    Ran ran = Ran.run(directory, arguments);
    assertEquals(0, ran.code(), ran::stderr);
    return ran.stdout();
  }

  @Test
  void theHelpHasItsArguments() {
    String help = printed("datanode", "--help");
    assertTrue(help.contains("Arguments of the tier guest:\n  -g <bytes> "), help);
    assertTrue(help.contains("Arguments of the tiers rdma and tcp:\n  -s <bytes> "), help);
    String wrong = Ran.run(directory, "datanode", "-g", "1g").stderr();
    assertTrue(wrong.contains("crail datanode -- -g 1g"), wrong);
  }

  @Test
  void theDoctorAsksIt() {
    String here = printed("doctor", "--here", "--set", "crail.storage.types=guest");
    assertTrue(here.contains("datanodes of the guest that are to run here: 1"), here);
    String without = printed("doctor", "--here", "--set", "crail.storage.types=nvmf");
    assertTrue(!without.contains("of the guest"), without);
  }

  @Test
  void aDatanodeOfItServes() throws Exception {
    try (EmbeddedCrail crail =
        EmbeddedCrail.builder().set("crail.storage.types", "tcp,guest").start()) {
      String address =
          "crail.namenode.address=" + crail.configuration().texts().get("crail.namenode.address");
      try (CrailProcess process =
          CrailProcess.program(
              Main.class,
              "datanode",
              "-t",
              "guest",
              "--set",
              address,
              "--set",
              "crail.storage.types=tcp,guest",
              "--",
              "-g",
              "16m",
              "-p",
              "0",
              "-d",
              directory.toString())) {
        process.await("serves 16.* on .*, registered", PATIENCE);
        String datanodes = printed("datanodes", "--set", address);
        assertTrue(datanodes.contains("guest"), datanodes);
      }
    }
  }
}

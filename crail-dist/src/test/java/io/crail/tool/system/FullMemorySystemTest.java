/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a datanode whose memory runs out after its start. The test has its own mounts. */
@Tag("once")
class FullMemorySystemTest {
  private static final List<String> SMALL_MEMORY =
      List.of(
          "unshare",
          "-rm",
          "sh",
          "-c",
          "mount -t tmpfs -o size=72m none /dev/shm && exec \"$@\"",
          "small-memory");

  @BeforeAll
  static void mountsArePermitted() throws Exception {
    List<String> command = new ArrayList<>(SMALL_MEMORY);
    command.add("true");
    String why;
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      why = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
      why = process.waitFor() == 0 ? "" : why;
    } catch (IOException e) {
      why = e.getMessage();
    }
    assumeTrue(why.isEmpty(), "no /dev/shm of its own can be mounted: " + why);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWriteFailsWithATypeAndTheDatanodeLivesOn(boolean mapped) throws Exception {
    try (CrailProcess program =
        CrailProcess.program(SMALL_MEMORY, FullMemoryProgram.class, String.valueOf(mapped))) {
      int code = program.awaitExit(Duration.ofSeconds(120));
      assertEquals(0, code, () -> program.stdout() + program.stderr());
      assertEquals("passed\n", program.stdout());
    }
  }
}

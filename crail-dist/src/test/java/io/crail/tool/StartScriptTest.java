/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests how the scripts wait for a namenode that reads its log, with a program in its place. */
@Tag("once")
@Timeout(60)
class StartScriptTest {
  private static final Path LIBRARY = Path.of("..", "libexec").toAbsolutePath().normalize();

  @TempDir private Path directory;

  /** What starts it waits for these files. */
  private Path go;

  private Path end;

  @BeforeEach
  void makeServer() throws IOException {
    go = directory.resolve("go");
    end = directory.resolve("end");
    Path program = Files.createDirectories(directory.resolve("bin")).resolve("crail");
    Files.writeString(
        program,
        """
        #!/usr/bin/env bash
        echo "it has read 1000000 records" >>"$CRAIL_LOG_FILE"
        while [ ! -e '%1$s' ] && [ ! -e '%2$s' ]; do sleep 0.05; done
        [ -e '%2$s' ] || echo "namenode 0 of 1 serves at here"
        while [ ! -e '%2$s' ]; do sleep 0.05; done
        """
            .formatted(go, end));
    assertTrue(program.toFile().setExecutable(true));
    Files.createDirectories(directory.resolve("conf"));
  }

  private Process start(int seconds) throws IOException {
    String script =
        "set -euo pipefail; root='%1$s'; . '%2$s/common.sh'; . '%2$s/daemons.sh'; addresses=here;"
            + " start_here namenode-0 namenode -i 0";
    ProcessBuilder builder = new ProcessBuilder("bash", "-c", script.formatted(directory, LIBRARY));
    builder.environment().put("CRAIL_HOME", directory.toString());
    builder.environment().put("CRAIL_CONF_DIR", directory.resolve("conf").toString());
    builder.environment().put("CRAIL_LOG_DIR", directory.resolve("logs").toString());
    builder.environment().put("CRAIL_START_SECONDS", String.valueOf(seconds));
    builder.environment().remove("CRAIL_PID_DIR");
    return builder.redirectErrorStream(true).start();
  }

  private static String await(BufferedReader said, String part) throws IOException {
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      if (line.contains(part)) {
        return line;
      }
    }
    throw new AssertionError("it has not said '" + part + "'");
  }

  @Test
  void whatTheNamenodeReadsIsShownUntilItServes() throws Exception {
    Process process = start(50);
    try (BufferedReader said =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = await(said, "not yet after");
      assertTrue(
          line.matches("namenode-0: not yet after \\d+ s: it has read 1000000 records"), line);
      Files.createFile(go);
      assertTrue(await(said, "serves").startsWith("namenode-0: namenode 0 of 1 serves at here"));
      assertTrue(process.waitFor(20, TimeUnit.SECONDS));
      assertEquals(0, process.exitValue());
    } finally {
      Files.createFile(end);
      process.destroyForcibly();
    }
  }

  @Test
  void theScriptGivesUpAndTheNamenodeGoesOn() throws Exception {
    Process process = start(1);
    try (BufferedReader said =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = await(said, "within");
      assertTrue(line.startsWith("namenode-0 has not begun to serve within 1 s (CRAIL_"), line);
      assertTrue(line.contains(" goes on; see "), line);
      assertTrue(process.waitFor(20, TimeUnit.SECONDS));
      assertEquals(1, process.exitValue());
    } finally {
      Files.createFile(end);
      process.destroyForcibly();
    }
  }
}

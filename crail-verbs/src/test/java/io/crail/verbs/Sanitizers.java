/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a program in a JVM whose native library is built with the sanitizers. */
final class Sanitizers {
  /**
   * The end of a run.
   *
   * @param status of the process
   * @param output everything that it printed
   */
  record End(int status, String output) {}

  private Sanitizers() {}

  /** Runs test classes, which must pass. */
  static void run(Class<?>... tests) throws IOException, InterruptedException {
    List<String> program =
        new ArrayList<>(
            List.of(
                "org.junit.platform.console.ConsoleLauncher",
                "execute",
                "--disable-banner",
                "--disable-ansi-colors"));
    for (Class<?> each : tests) {
      program.add("--select-class=" + each.getName());
    }
    End end = java(program.toArray(new String[0]));
    assertEquals(0, end.status, end.output);
    assertTrue(end.output.contains(" tests successful"), end.output);
  }

  /** Runs a program. */
  static End java(String... program) throws IOException, InterruptedException {
    assumeTrue(
        Files.exists(Library.file().resolveSibling("sanitized").resolve("libdisni.so")),
        "the library with the sanitizers is not built (make -C crail-verbs sanitized)");
    List<String> command =
        new ArrayList<>(
            List.of(
                // The deadline is enforced by this command, since reading the output has none.
                "timeout",
                "-s",
                "KILL",
                "240",
                Path.of("..", "ci", "sanitized").toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-Dcrail.test.rdma.server="
                    + System.getProperty("crail.test.rdma.server", "10.9.0.2"),
                "-cp",
                System.getProperty("java.class.path")));
    command.addAll(List.of(program));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new End(process.waitFor(), output);
  }
}

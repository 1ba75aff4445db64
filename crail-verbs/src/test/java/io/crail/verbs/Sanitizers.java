/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a test class in a JVM whose native library is the one with the sanitizers. */
final class Sanitizers {
  private Sanitizers() {}

  static void run(Class<?> tests) throws IOException, InterruptedException {
    Path directory = Library.file().resolveSibling("sanitized");
    assumeTrue(
        Files.exists(directory.resolve("libdisni.so")),
        "the library with the sanitizers is not built (make -C crail-verbs sanitized)");
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-Djava.library.path=" + directory,
                "-cp",
                System.getProperty("java.class.path"),
                "org.junit.platform.console.ConsoleLauncher",
                "execute",
                "--disable-banner",
                "--disable-ansi-colors",
                "--select-class",
                tests.getName())
            .redirectErrorStream(true);
    builder.environment().put("LD_PRELOAD", sanitizer("asan") + ":" + sanitizer("ubsan"));
    // The JVM handles signals of its own, and never gives back all that it has allocated.
    builder
        .environment()
        .put("ASAN_OPTIONS", "handle_segv=0:allow_user_segv_handler=1:detect_leaks=0");
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), output);
    assertTrue(output.contains(" tests successful"), output);
  }

  private static String sanitizer(String name) throws IOException, InterruptedException {
    String file = "lib" + name + ".so";
    List<String> command = List.of("cc", "-print-file-name=" + file);
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      assumeTrue(false, "there is no C compiler");
      throw e;
    }
    String path =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertTrue(process.waitFor(20, TimeUnit.SECONDS));
    assumeTrue(Path.of(path).isAbsolute(), file + " is not installed");
    return path;
  }
}

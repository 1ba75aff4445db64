/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Runs a program of the system. */
final class SystemProgram {
  private static final long PATIENCE_SECONDS = 30;

  private SystemProgram() {}

  /**
   * Runs a program until it ends.
   *
   * @throws IOException with its output, when it fails or does not end
   */
  static void run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(String.join(" ", command) + " does not end");
      }
      if (process.exitValue() != 0) {
        throw new IOException(String.join(" ", command) + ": " + said.strip());
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException(String.join(" ", command) + " was interrupted", e);
    }
  }
}

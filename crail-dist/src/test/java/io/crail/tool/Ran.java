/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import io.crail.tool.command.ResultStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * The result of a {@code crail} command that ran within this process. That takes milliseconds,
 * while a separate process takes a second to start its JVM.
 *
 * @param code its exit code
 * @param stdout its standard output
 * @param stderr its standard error
 */
public record Ran(int code, String stdout, String stderr) {
  /**
   * Runs a command line. Hadoop's shell knows no streams but those of the process, so that nothing
   * else may write there meanwhile.
   *
   * @param directory of the configuration file
   */
  public static Ran run(Path directory, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream oldOut = System.out;
    PrintStream oldErr = System.err;
    try (ResultStream newOut = ResultStream.to(out);
        PrintStream newErr = new PrintStream(err, true, StandardCharsets.UTF_8)) {
      System.setOut(newOut);
      System.setErr(newErr);
      Launcher launcher =
          new Launcher(
              newOut, newErr, name -> name.equals("CRAIL_CONF_DIR") ? directory.toString() : null);
      int code = launcher.run(List.of(arguments));
      return new Ran(
          code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(oldOut);
      System.setErr(oldErr);
    }
  }
}

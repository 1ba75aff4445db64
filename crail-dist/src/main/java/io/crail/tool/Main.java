/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import io.crail.common.LostText;
import io.crail.common.Printable;
import io.crail.tool.command.DecodedText;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.ResultStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** The entry point of {@code bin/crail}. */
public final class Main {
  private Main() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    ResultStream out = ResultStream.ofProcess();
    // Hadoop's shell knows no other streams, and formats by the default locale.
    Locale.setDefault(Locale.ROOT);
    System.setOut(out);
    System.setErr(
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8));
    String refusal = refusal(List.of(arguments), DecodedText.charset());
    if (refusal != null) {
      System.err.println("crail: " + refusal);
      System.exit(ExitCode.USAGE);
    }
    System.exit(new Launcher(out, System.err, System::getenv).run(List.of(arguments)));
  }

  /**
   * Why arguments must not be used: it is unknown what was written. Null for arguments that are as
   * they were written.
   *
   * @param charset by which the JVM has decoded them, and names local files; bin/crail makes it
   *     UTF-8
   */
  static String refusal(List<String> arguments, String charset) {
    for (String argument : arguments) {
      if (DecodedText.isDoubtful(argument, charset)) {
        return "the argument '"
            + Printable.line(argument)
            + "' is "
            + (DecodedText.isUtf8(charset)
                ? "no UTF-8"
                : "not ASCII, and this Java takes names in " + charset)
            + "; "
            + LostText.CURE;
      }
    }
    return null;
  }
}

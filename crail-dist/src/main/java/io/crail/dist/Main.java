/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import io.crail.dist.command.ResultStream;
import java.util.List;

/** The entry point of {@code bin/crail}. */
public final class Main {
  private Main() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    ResultStream out = ResultStream.ofProcess();
    // Hadoop's shell knows no other stream.
    System.setOut(out);
    System.exit(new Launcher(out, System.err, System::getenv).run(List.of(arguments)));
  }
}

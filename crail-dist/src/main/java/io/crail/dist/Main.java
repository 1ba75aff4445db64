/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import java.util.List;

/** The entry point of {@code bin/crail}. */
public final class Main {
  private Main() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    Launcher launcher = new Launcher(System.out, System.err, System::getenv);
    int code = launcher.run(List.of(arguments));
    System.out.flush();
    System.exit(code);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process whose output goes to a file. */
final class ChildProcess implements AutoCloseable {
  private final Path log;
  private final Process process;

  private ChildProcess(Path log, Process process) {
    this.log = log;
    this.process = process;
  }

  /** Starts a command, with more in its environment. */
  static ChildProcess start(Path log, Map<String, String> environment, List<String> command)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectInput(Path.of("/dev/null").toFile()).redirectOutput(log.toFile());
    builder.environment().remove("CRAIL_HOME");
    builder.environment().putAll(environment);
    return new ChildProcess(log, builder.start());
  }

  /** Waits for a line that matches, and gives the match. */
  Matcher await(String pattern) throws Exception {
    Pattern line = Pattern.compile("(?m)^" + pattern + "$");
    Matcher[] found = new Matcher[1];
    Eventually.holds(
        pattern + " in " + log,
        () -> {
          boolean ended = !process.isAlive();
          found[0] = line.matcher(output());
          if (found[0].find()) {
            return true;
          }
          if (ended) {
            throw new AssertionError("no " + pattern + " in:\n" + output());
          }
          return false;
        });
    return found[0];
  }

  /** Waits for the end, and gives the exit code. */
  int awaitExit() throws Exception {
    try {
      Eventually.holds("the end of a process", () -> !process.isAlive());
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + "; it has said:\n" + output(), e);
    }
    return process.exitValue();
  }

  /** What it has written. */
  String output() throws IOException {
    return Files.readString(log);
  }

  long pid() {
    return process.pid();
  }

  /** All processes that it has started, and they. */
  List<ProcessHandle> descendants() {
    return process.descendants().toList();
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** SIGTERM; {@link #close} waits. */
  void terminate() {
    process.destroy();
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      kill();
    }
  }
}

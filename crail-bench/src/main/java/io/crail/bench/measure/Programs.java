/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The processes of one run: those that are waited for, and those that serve until {@link #close()}
 * ends them, the last one first. Not thread-safe.
 */
final class Programs implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 300;
  private static final long END_SECONDS = 10;

  private final Path directory;
  private final Deque<Process> servers = new ArrayDeque<>();
  private int logs;

  /** Creates the owner of processes whose output goes to {@code directory}. */
  Programs(Path directory) {
    this.directory = directory;
  }

  /**
   * Runs a program to its end.
   *
   * @return what it wrote to its standard output
   * @throws IOException when it fails or does not end, with the end of what it wrote
   */
  String run(List<String> command) throws IOException, InterruptedException {
    Path output = directory.resolve("run-" + ++logs + ".out");
    Path errors = directory.resolve("run-" + logs + ".err");
    Process process =
        new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start();
    boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      stop(process);
    }
    String text = Files.readString(output);
    if (!ended || process.exitValue() != 0) {
      String how = ended ? "exit code " + process.exitValue() : "no end";
      throw new IOException(
          String.join(" ", command) + ": " + how + "\n" + text + Files.readString(errors));
    }
    return text;
  }

  /**
   * Starts a program that serves, and reads its first line.
   *
   * @throws IOException when there is none
   */
  String startAndReadLine(List<String> command) throws IOException {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    servers.push(process);
    BufferedReader reader =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = reader.readLine();
    if (line == null) {
      throw new IOException(String.join(" ", command) + " ended at once");
    }
    return line;
  }

  /** Starts a program that serves; its output goes to a file that the directory names. */
  Process start(String name, List<String> command) throws IOException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(name + ".log").toFile())
            .start();
    servers.push(process);
    return process;
  }

  /** The server that was started last. */
  Process last() {
    return servers.peek();
  }

  /** Ends the server that was started last. */
  void stopLast() throws InterruptedException {
    stop(servers.pop());
  }

  @Override
  public void close() throws InterruptedException {
    while (!servers.isEmpty()) {
      stopLast();
    }
  }

  private static void stop(Process process) throws InterruptedException {
    process.destroy();
    if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor(END_SECONDS, TimeUnit.SECONDS);
    }
  }
}

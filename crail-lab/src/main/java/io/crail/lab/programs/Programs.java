/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The processes of one run: programs that end by themselves, and servers that run until they are
 * stopped. Used by one thread. Another thread may {@link #close} it, which ends all processes, the
 * last one first, and refuses to start more.
 */
public final class Programs implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 300;
  private static final long LINE_SECONDS = 60;
  private static final long POLL_MILLIS = 5;
  private static final long END_SECONDS = 10;

  private final Path directory;
  private final Account account = new Account();
  private final Deque<Process> running = new ArrayDeque<>();
  private final Map<String, String> environment = new HashMap<>();
  private int logs;
  private boolean closed;

  /** Creates the owner of processes whose output goes to {@code directory}. */
  public Programs(Path directory) {
    this.directory = directory;
  }

  /** The account of their time. */
  public Account account() {
    return account;
  }

  /** Where their output goes. */
  public Path directory() {
    return directory;
  }

  /** Sets an environment variable of all processes that are started from now on. */
  public void setEnvironment(String name, String value) {
    environment.put(name, value);
  }

  /**
   * Runs a program until it ends.
   *
   * @return its standard output
   * @throws IOException when it fails or does not end; it has the end of the output
   */
  public String run(List<String> command) throws IOException, InterruptedException {
    return run(command, PATIENCE_SECONDS);
  }

  /**
   * Runs a program until it ends.
   *
   * @param seconds how long that may take
   * @return its standard output
   * @throws IOException when it fails or does not end; it has the end of the output
   */
  public String run(List<String> command, long seconds) throws IOException, InterruptedException {
    Path output = directory.resolve("run-" + ++logs + ".out");
    Path errors = directory.resolve("run-" + logs + ".err");
    long begin = System.nanoTime();
    Process process =
        start(
            new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile()));
    boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
    stop(process);
    account.since(begin, Account.kind(command));
    String text = Files.readString(output);
    if (!ended || process.exitValue() != 0) {
      String how = ended ? "exit code " + process.exitValue() : "no end";
      throw new IOException(
          String.join(" ", command) + ": " + how + "\n" + text + Files.readString(errors));
    }
    return text;
  }

  /**
   * Runs a program until it ends, and reports each line of its standard output at once.
   *
   * @return all lines
   * @throws IOException when it fails or does not end; it has the end of the output
   */
  public String run(List<String> command, Consumer<String> lines)
      throws IOException, InterruptedException {
    Path errors = directory.resolve("run-" + ++logs + ".err");
    long begin = System.nanoTime();
    Process process =
        start(
            new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectError(errors.toFile()));
    // Reading ends when the process ends.
    CompletableFuture<?> patience =
        CompletableFuture.runAsync(
            process::destroyForcibly,
            CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS));
    StringBuilder text = new StringBuilder();
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        text.append(line).append('\n');
        lines.accept(line);
      }
      process.waitFor(END_SECONDS, TimeUnit.SECONDS);
    } finally {
      patience.cancel(false);
      stop(process);
    }
    account.since(begin, Account.kind(command));
    if (process.exitValue() != 0) {
      throw new IOException(
          String.join(" ", command)
              + ": exit code "
              + process.exitValue()
              + "\n"
              + text
              + Files.readString(errors));
    }
    return text.toString();
  }

  /** Starts a server, and returns the first line that it writes. */
  public String startAndReadLine(List<String> command) throws IOException, InterruptedException {
    return startAndReadLine(command, LINE_SECONDS);
  }

  /**
   * Starts a server, and returns the first line that it writes.
   *
   * @param seconds how long that may take
   * @throws IOException when there is no line; it has the standard error of the server
   */
  public String startAndReadLine(List<String> command, long seconds)
      throws IOException, InterruptedException {
    Path output = directory.resolve("serve-" + ++logs + ".out");
    Path errors = directory.resolve("serve-" + logs + ".err");
    long begin = System.nanoTime();
    Process process =
        start(
            new ProcessBuilder(command)
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile()));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (true) {
      // Asked before reading the file: then all output of an ended process is in the file.
      boolean ended = process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
      String text = Files.readString(output);
      int end = text.indexOf('\n');
      if (end >= 0) {
        account.since(begin, "start of " + Account.kind(command));
        return text.substring(0, end);
      }
      if (ended || System.nanoTime() - deadline >= 0) {
        stop(process);
        String how =
            ended
                ? "exit code " + process.exitValue() + " without a line"
                : "no line in " + seconds + " s";
        throw new IOException(
            String.join(" ", command) + ": " + how + "\n" + text + Files.readString(errors));
      }
    }
  }

  /** Starts a server. Its output goes to a file in the directory. */
  public Process start(String name, List<String> command) throws IOException {
    return start(name, command, Map.of());
  }

  /** Starts a server with additional environment variables. */
  public Process start(String name, List<String> command, Map<String, String> environment)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(name + ".log").toFile());
    builder.environment().putAll(environment);
    return start(builder);
  }

  /** Whether a program of this name can be started. */
  public static boolean isInstalled(String name) {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(path -> !path.isEmpty() && Files.isExecutable(Path.of(path, name)));
  }

  /** The output of a server so far. */
  String log(String name) throws IOException {
    return Files.readString(directory.resolve(name + ".log"));
  }

  /** The process that was started last and not stopped. */
  public synchronized Process last() {
    return running.peek();
  }

  /** Ends the server that was started last. */
  public void stopLast() throws InterruptedException {
    stop(last());
  }

  @Override
  public void close() throws InterruptedException {
    synchronized (this) {
      closed = true;
    }
    for (Process process = last(); process != null; process = last()) {
      stop(process);
    }
  }

  /** True after {@link #close}. */
  public synchronized boolean isClosed() {
    return closed;
  }

  private synchronized Process start(ProcessBuilder builder) throws IOException {
    if (closed) {
      throw new IOException("not started, since the run has ended: " + builder.command());
    }
    builder.environment().putAll(environment);
    Process process = builder.start();
    running.push(process);
    return process;
  }

  /** Ends a server, and what it has started. */
  public void stop(Process process) throws InterruptedException {
    if (!process.isAlive()) {
      forget(process);
      return;
    }
    long begin = System.nanoTime();
    List<ProcessHandle> started = process.descendants().toList();
    process.destroy();
    if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor(END_SECONDS, TimeUnit.SECONDS);
    }
    for (ProcessHandle each : started) {
      end(each);
    }
    forget(process);
    account.since(begin, "end of servers");
  }

  /** Ends a process that its parent should have ended. */
  private static void end(ProcessHandle process) throws InterruptedException {
    process.destroy();
    try {
      process.onExit().get(END_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException e) {
      process.destroyForcibly();
    }
  }

  private synchronized void forget(Process process) {
    running.remove(process);
  }
}

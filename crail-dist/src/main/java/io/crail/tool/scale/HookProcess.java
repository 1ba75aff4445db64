/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import io.crail.common.Threads;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A line of the operator in a shell. What it starts in the background lives on after it. Used by
 * one thread.
 */
final class HookProcess implements ScaleWorld.Hook {
  /** How long the output of a program that has ended may be on its way. */
  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Process process;
  private final Thread reader;
  private final Duration deadline;
  private final boolean spares;
  private final long startNanos = System.nanoTime();
  private volatile String lastLine = "";
  private boolean late;
  private long endNanos;

  private HookProcess(Process process, Duration deadline, boolean spares, Consumer<String> lines) {
    this.process = process;
    this.deadline = deadline;
    this.spares = spares;
    this.reader = Threads.daemon("crail-scale-hook", () -> read(lines));
    reader.start();
  }

  /**
   * Starts it.
   *
   * @param environment variables in addition to those of this process
   * @param spares whether what it has started lives on even if it is ended at its deadline: it may
   *     be a datanode that has got data
   * @param lines takes each line of its output, in another thread
   * @throws IOException when there is no shell
   */
  static HookProcess start(
      String line,
      Map<String, String> environment,
      Duration deadline,
      boolean spares,
      Consumer<String> lines)
      throws IOException {
    // Which becomes the program if the line is nothing but that.
    ProcessBuilder builder = new ProcessBuilder(List.of("bash", "-c", line));
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
    return new HookProcess(builder.start(), deadline, spares, lines);
  }

  private void read(Consumer<String> lines) {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        lastLine = line;
        lines.accept(line);
      }
    } catch (IOException e) {
      // The program has ended, or was ended.
    }
  }

  @Override
  public boolean isEnded() {
    if (process.isAlive() && System.nanoTime() - startNanos > deadline.toNanos()) {
      late = true;
      abort();
    }
    if (process.isAlive()) {
      return false;
    }
    endNanos = endNanos == 0 ? System.nanoTime() : endNanos;
    // What it has started may hold its output open for long.
    return !reader.isAlive() || System.nanoTime() - endNanos > REST_NANOS;
  }

  @Override
  public String lastLine() {
    return lastLine;
  }

  @Override
  public Optional<String> failure() {
    String last = lastLine;
    String said = last.isEmpty() ? "" : ": " + last;
    if (late) {
      return Optional.of("the hook has not ended within " + deadline.toSeconds() + " s" + said);
    }
    return process.isAlive() || process.exitValue() == 0
        ? Optional.empty()
        : Optional.of("the hook has ended with " + process.exitValue() + said);
  }

  @Override
  public void abort() {
    if (!spares) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
    }
    process.destroyForcibly();
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.bench.report.Json;
import io.crail.bench.run.Progress;
import io.crail.common.Printable;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.IncompleteException;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.part.NodePath;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.command.Siblings;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.InvalidPathException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * One run of a command on paths: its store, its output, and what has failed. Used by one thread.
 */
final class PathRun {
  /** A copy of fewer bytes ends before a bar could be read. */
  private static final long LEAST_SHOWN = 64 << 20;

  private static final int OUTPUT_BYTES = 64 << 10;

  private static final String TEMPORARY = ".crail-put-";

  /** Random digits of a temporary name. Names with fewer would meet those of others. */
  private static final int LEAST_DIGITS = 6;

  private static final int MOST_DIGITS = 16;

  private final String command;
  private final CommandContext context;
  private final CrailStore store;
  private final int namenodes;
  private final PrintStream out;

  private boolean failed;

  /** Where the sources of this command went. */
  private final Set<String> taken = new HashSet<>();

  private boolean incomplete;

  PathRun(String command, CommandContext context, CrailStore store, Configuration configuration) {
    this.command = command;
    this.context = context;
    this.store = store;
    this.namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS).size();
    this.out =
        new PrintStream(
            new BufferedOutputStream(context.out(), OUTPUT_BYTES), false, StandardCharsets.UTF_8);
  }

  /** What is done for one path. */
  @FunctionalInterface
  interface Step {
    void run() throws Exception;
  }

  /** Runs a step. When it fails, says so in a line that names the path, and returns. */
  void attempt(String path, Step step) throws Exception {
    try {
      step.run();
    } catch (IOException
        | UncheckedIOException
        | DirectoryIteratorException
        | InvalidPathException
        | ExecutionException e) {
      Throwable cause = cause(e);
      boolean interrupted =
          cause instanceof InterruptedIOException || cause instanceof ClosedByInterruptException;
      if (interrupted || Thread.currentThread().isInterrupted()) {
        throw (InterruptedException) new InterruptedException().initCause(e);
      }
      incomplete |= cause instanceof IncompleteException;
      failed |= !(cause instanceof IncompleteException);
      if (context.options().verbose()) {
        e.printStackTrace(context.err());
      }
      say(path + ": " + PathErrors.text(path, cause));
    }
  }

  /** Keeps two sources of one name from taking the same place, one after the other. */
  void takes(String place) throws IOException {
    if (!taken.add(place)) {
      throw new IOException("would replace " + place + ", which this command has just made");
    }
  }

  /**
   * Runs steps that clean up after themselves. When the process is asked to end, it waits for that.
   */
  void untilAsked(Step steps) throws Exception {
    try (ShutdownGate gate = ShutdownGate.open()) {
      gate.onAsked(Thread.currentThread()::interrupt);
      try {
        steps.run();
      } catch (InterruptedException e) {
        // That was the request to end, and all is cleaned up. The process ends when the gate opens.
        Thread.interrupted();
        failed = true;
        say("interrupted");
      }
    }
  }

  /** The error behind wrappers. */
  private static Throwable cause(Throwable error) {
    boolean wraps =
        error instanceof UncheckedIOException
            || error instanceof DirectoryIteratorException
            || error instanceof ExecutionException;
    return wraps && error.getCause() != null ? cause(error.getCause()) : error;
  }

  /** Says what has failed for a path. */
  void complain(String path, String text) {
    failed = true;
    say(path + ": " + text);
  }

  /** Prints a line on stderr. */
  void say(String text) {
    out.flush();
    context.err().println("crail " + command + ": " + Printable.line(text));
  }

  /** Prints a line of a result, whose names are printable. */
  void print(String line) {
    out.println(line);
  }

  /** Prints a value as a line of JSON. */
  void json(Object value) {
    out.print(Json.line(value));
  }

  /** Writes bytes of a file to the standard output. */
  void write(byte[] bytes, int length) {
    out.write(bytes, 0, length);
  }

  /** A node that has to exist. */
  CrailNode find(String path) throws Exception {
    CrailNode node = store.lookup(path).get();
    if (node == null) {
      throw ErrorCode.NODE_NOT_FOUND.exception(path);
    }
    return node;
  }

  /** True for the root, in each of its spellings. */
  static boolean isRoot(String path) throws CrailException {
    return NodePath.parse(path).equals(NodePath.ROOT);
  }

  /** The path of a child. */
  static String child(String container, String name) throws CrailException {
    return NodePath.child(NodePath.parse(container).toString(), name);
  }

  /** The last component; empty for the root. */
  static String name(String path) throws CrailException {
    return NodePath.name(NodePath.parse(path).toString());
  }

  /** A new path beside another one, from where a rename leads to it. */
  String temporary(String path) throws Exception {
    String above = NodePath.parent(path);
    int room = NodePath.MAX_LENGTH - Utf8.of(above).length() - 1 - TEMPORARY.length();
    if (room < LEAST_DIGITS) {
      int excess = LEAST_DIGITS - room;
      throw new IOException(
          above + " is too long by " + excess + " bytes for the temporary name of a copy");
    }
    CrailNode container = namenodes == 1 || isRoot(above) ? null : store.lookup(above).get();
    // The children of a spread directory, and of the root, are at different namenodes.
    boolean isSpread =
        isRoot(above)
            || container != null
                && container.getType().isContainer()
                && container.asContainer().isSpread();
    int digits = Math.min(room, MOST_DIGITS);
    String name =
        Siblings.of(
            "/" + name(path),
            isSpread ? namenodes : 1,
            attempt ->
                "/"
                    + TEMPORARY
                    + String.format(Locale.ROOT, "%016x", ThreadLocalRandom.current().nextLong())
                        .substring(0, digits));
    return child(above, name.substring(1));
  }

  /**
   * Shows the progress of a long copy on a terminal, until it is closed.
   *
   * @param total bytes; below 0 if unknown
   * @param quiet whether not to
   */
  AutoCloseable progress(String name, long total, boolean quiet, LongSupplier done) {
    boolean wanted = !quiet && context.hasTerminal() && (total < 0 || total >= LEAST_SHOWN);
    return wanted ? Progress.ofBytes(context.err(), Printable.line(name), total, done) : () -> {};
  }

  CommandContext context() {
    return context;
  }

  CrailStore store() {
    return store;
  }

  PrintStream out() {
    return out;
  }

  /** The exit code, by what has failed so far. */
  int code() {
    return failed ? ExitCode.FAILURE : incomplete ? ExitCode.PARTIAL : 0;
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The standard output of a command, in UTF-8. A {@link PrintStream} hides errors; here the first
 * one throws {@link OutputFailedException}, so that no command goes on without a reader. What is
 * printed after it is dropped, so that a command can end in order. Thread-safe.
 */
public final class ResultStream extends PrintStream {
  private static final Path DESCRIPTOR = Path.of("/proc/self/fd/1");

  private final Target target;
  private final boolean isOfProcess;

  private ResultStream(Target target, boolean isOfProcess) {
    super(new BufferedOutputStream(target), true, StandardCharsets.UTF_8);
    this.target = target;
    this.isOfProcess = isOfProcess;
  }

  /** A stream to the standard output of this process. */
  public static ResultStream ofProcess() {
    return new ResultStream(new Target(new FileOutputStream(FileDescriptor.out)), true);
  }

  /** A stream to another target, which stays open. */
  public static ResultStream to(OutputStream target) {
    return new ResultStream(new Target(target), false);
  }

  /**
   * Prints a line at once. A server does not end because no one reads it, or because the disk of
   * its log is full.
   */
  public void announce(String line) {
    flush();
    target.offer((line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
  }

  /** Also reports an error that was thrown. */
  @Override
  public boolean checkError() {
    return failure().isPresent() || super.checkError();
  }

  /** The error that the target had, if any. */
  public Optional<IOException> failure() {
    return Optional.ofNullable(target.failure);
  }

  /** Whether the target is a pipe, which fails only when its reader has gone. */
  public boolean isPipe() {
    try {
      return isOfProcess && Files.readSymbolicLink(DESCRIPTOR).toString().startsWith("pipe:");
    } catch (IOException e) {
      // A descriptor that is closed, or a system without these files.
      return false;
    }
  }

  /** Passes bytes on until the first error. */
  private static final class Target extends OutputStream {
    private final OutputStream out;
    private volatile IOException failure;

    Target(OutputStream out) {
      this.out = out;
    }

    @Override
    public void write(int value) {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      if (failure == null) {
        try {
          out.write(bytes, offset, length);
        } catch (IOException e) {
          throw failed(e);
        }
      }
    }

    @Override
    public void flush() {
      if (failure == null) {
        try {
          out.flush();
        } catch (IOException e) {
          throw failed(e);
        }
      }
    }

    void offer(byte[] bytes) {
      try {
        out.write(bytes, 0, bytes.length);
        out.flush();
      } catch (IOException e) {
        // No one reads.
      }
    }

    private OutputFailedException failed(IOException cause) {
      failure = cause;
      return new OutputFailedException(cause);
    }
  }
}

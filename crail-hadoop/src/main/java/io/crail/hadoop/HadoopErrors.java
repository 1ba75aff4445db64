/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * Turns the errors of the store into the errors that programs for Hadoop expect, each with its
 * path. The error code decides, never a text. The error of the store stays as the cause.
 */
final class HadoopErrors {
  private HadoopErrors() {}

  /** A step that uses the store. */
  @FunctionalInterface
  interface Step<T> {
    T run() throws Exception;
  }

  /**
   * Runs a step. An exception that is a bug is not translated.
   *
   * @param path the path that its errors name
   */
  static <T> T translate(Path path, Step<T> step) throws IOException {
    try {
      return step.run();
    } catch (UncheckedIOException | CompletionException | ConfigException e) {
      throw translated(path, e);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw translated(path, e);
    }
  }

  /**
   * Runs a step on a node that has to exist. A path that no node can have is one that is not there:
   * who asks for it gets a {@link FileNotFoundException}.
   */
  static <T> T ofExisting(Path path, Step<T> step) throws IOException {
    try {
      return translate(path, step);
    } catch (PathIOException e) {
      if (isOfImpossiblePath(e)) {
        throw because(new FileNotFoundException(path + ": " + e.getCause().getMessage()), e);
      }
      throw e;
    }
  }

  /** Whether an error says that no node can have such a path. */
  static boolean isOfImpossiblePath(PathIOException error) {
    return error.getCause() instanceof CrailException
        && ((CrailException) error.getCause()).code() == ErrorCode.INVALID_PATH;
  }

  /** The same error as Hadoop's type. */
  static IOException translated(Path path, Throwable error) {
    if (error instanceof CrailException) {
      return ofCode(path, (CrailException) error);
    }
    boolean wraps =
        error instanceof ExecutionException
            || error instanceof UncheckedIOException
            || error instanceof CompletionException;
    if (wraps && error.getCause() != null) {
      return translated(path, error.getCause());
    }
    if (error instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return because(new InterruptedIOException(path + ": interrupted"), error);
    }
    return error instanceof IOException
        ? (IOException) error
        : new PathIOException(path.toString(), error);
  }

  private static IOException ofCode(Path path, CrailException error) {
    String text = path + ": " + error.getMessage();
    switch (error.code()) {
      case NODE_NOT_FOUND:
      case PARENT_NOT_FOUND:
      case STALE_NODE:
        return because(new FileNotFoundException(text), error);
      case NODE_EXISTS:
        return because(new FileAlreadyExistsException(text), error);
      case NOT_A_CONTAINER:
      case WRONG_TYPE:
        return because(new ParentNotDirectoryException(text), error);
      case NOT_EMPTY:
        return because(new PathIsNotEmptyDirectoryException(path.toString()), error);
      case CYCLE:
        return new PathIntoItselfException(path.toString(), error);
      case OUT_OF_RANGE:
        return because(new EOFException(text), error);
      case UNAVAILABLE:
        return because(new ConnectException(text), error);
      case CLOSED:
        // The words of HDFS, by which programs recognize this error.
        return because(new PathIOException(path.toString(), "Filesystem closed"), error);
      default:
        // Timeouts too. Hadoop's shell takes a SocketTimeoutException, like each
        // InterruptedIOException, for an interrupt by its user, and does not show the message.
        return new PathIOException(path.toString(), error);
    }
  }

  /** The error of a stream that was closed before. */
  static IOException streamClosed(Path path) {
    return new PathIOException(path.toString(), FSExceptionMessages.STREAM_IS_CLOSED);
  }

  private static IOException because(IOException translated, Throwable cause) {
    translated.initCause(cause);
    return translated;
  }
}

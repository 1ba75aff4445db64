/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.junit.jupiter.api.Test;

class HadoopErrorsTest {
  private static final Path PATH = new Path("crail://host:1/a");

  private static final Map<ErrorCode, Class<? extends IOException>> TYPES =
      Map.ofEntries(
          Map.entry(ErrorCode.NODE_NOT_FOUND, FileNotFoundException.class),
          Map.entry(ErrorCode.PARENT_NOT_FOUND, FileNotFoundException.class),
          Map.entry(ErrorCode.STALE_NODE, FileNotFoundException.class),
          Map.entry(ErrorCode.NODE_EXISTS, FileAlreadyExistsException.class),
          Map.entry(ErrorCode.NOT_A_CONTAINER, ParentNotDirectoryException.class),
          Map.entry(ErrorCode.WRONG_TYPE, ParentNotDirectoryException.class),
          Map.entry(ErrorCode.NOT_EMPTY, PathIsNotEmptyDirectoryException.class),
          Map.entry(ErrorCode.CYCLE, PathIntoItselfException.class),
          Map.entry(ErrorCode.OUT_OF_RANGE, EOFException.class),
          Map.entry(ErrorCode.UNAVAILABLE, ConnectException.class));

  @Test
  void theCodeDecidesAndThePathIsNamed() {
    for (ErrorCode code : ErrorCode.values()) {
      CrailException error = code.exception(ErrorCode.NODE_NOT_FOUND.text());
      IOException translated = HadoopErrors.translated(PATH, error);
      assertSame(TYPES.getOrDefault(code, PathIOException.class), translated.getClass(), code + "");
      assertSame(error, translated.getCause());
      assertTrue(translated.getMessage().contains(PATH.toString()), translated.getMessage());
    }
  }

  @Test
  void errorsAreUnwrapped() {
    CrailException error = ErrorCode.NODE_EXISTS.exception("/a");
    for (Exception wrapped :
        new Exception[] {new ExecutionException(error), new UncheckedIOException(error)}) {
      IOException thrown =
          assertThrows(
              FileAlreadyExistsException.class,
              () ->
                  HadoopErrors.translate(
                      PATH,
                      () -> {
                        throw wrapped;
                      }));
      assertSame(error, thrown.getCause());
    }
  }

  @Test
  void anInterruptStaysSet() {
    IOException translated = HadoopErrors.translated(PATH, new InterruptedException());
    assertTrue(Thread.interrupted());
    assertEquals(InterruptedIOException.class, translated.getClass());
  }

  @Test
  void aBugStaysWhatItIsAndABadValueDoesNot() {
    assertThrows(
        IllegalStateException.class,
        () ->
            HadoopErrors.translate(
                PATH,
                () -> {
                  throw new IllegalStateException("a bug");
                }));
    IOException refused =
        assertThrows(
            PathIOException.class,
            () ->
                HadoopErrors.translate(
                    PATH,
                    () -> {
                      throw new ConfigException("key 'crail.x'");
                    }));
    assertTrue(refused.getMessage().contains("crail.x"), refused.getMessage());
  }
}

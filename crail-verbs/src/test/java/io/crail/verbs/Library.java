/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The native library, for the tests that need it. */
final class Library {
  private Library() {}

  /** The file of the library. Skips the test when it is not built. */
  static Path file() {
    String name = System.mapLibraryName("disni");
    return Stream.of(System.getProperty("java.library.path").split(File.pathSeparator))
        .map(directory -> Path.of(directory, name))
        .filter(Files::exists)
        .findFirst()
        .orElseGet(
            () -> {
              assumeTrue(false, "the native library is not built (make -C crail-verbs)");
              throw new AssertionError();
            });
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** Loads the native library. */
final class NativeLibrary {
  private static final String NAME = "disni";

  private NativeLibrary() {}

  /**
   * Loads the library.
   *
   * @param belongsTogether whether the loaded library is that of this version
   * @return the reason when that fails, or an empty text
   */
  static String load(BooleanSupplier belongsTogether) {
    try {
      System.loadLibrary(NAME);
    } catch (UnsatisfiedLinkError e) {
      return notLoaded(e);
    }
    try {
      if (belongsTogether.getAsBoolean()) {
        return "";
      }
    } catch (UnsatisfiedLinkError e) {
      // The library has this name but is another one. The answer is the same.
    }
    return "the native library "
        + System.mapLibraryName(NAME)
        + " on java.library.path is not that of this version of Crail";
  }

  private static String notLoaded(UnsatisfiedLinkError error) {
    String file = System.mapLibraryName(NAME);
    String path = System.getProperty("java.library.path", "");
    for (String directory : path.split(File.pathSeparator)) {
      if (!directory.isEmpty() && Files.exists(Path.of(directory, file))) {
        return "the native library "
            + Path.of(directory, file)
            + " cannot be loaded: "
            + error.getMessage()
            + "; it needs librdmacm and libibverbs (Debian: librdmacm1, ibverbs-providers)";
      }
    }
    return "the native library "
        + file
        + " is not on java.library.path ("
        + path
        + "); it is built when a C compiler and the headers of rdma-core are there (Debian: gcc,"
        + " make, libibverbs-dev, librdmacm-dev)";
  }
}

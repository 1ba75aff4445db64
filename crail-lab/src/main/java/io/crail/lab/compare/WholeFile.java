/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Writes files anew, so that whoever reads or ends meanwhile never finds half of one. Stateless.
 */
final class WholeFile {
  private WholeFile() {}

  /** Writes to a path. */
  @FunctionalInterface
  interface Writer {
    /** Writes to it. */
    void write(Path file) throws IOException;
  }

  /** Writes a file, or what stands in its place: a device or a link is written to. */
  static void write(Path file, Writer writer) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    boolean isOther = Files.exists(file) && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    if (isOther || !Files.isWritable(directory)) {
      writer.write(file);
      return;
    }
    // Its name ends as that of the file, which decides the form of a chart.
    Path part = directory.resolve(".part-" + file.getFileName());
    writer.write(part);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }
}

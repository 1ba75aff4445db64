/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Writes files anew, so no reader finds half a file, and no run that is killed leaves one.
 * Stateless.
 */
final class WholeFile {
  /** Less those of the umask. */
  private static final FileAttribute<Set<PosixFilePermission>> USUAL =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-rw-rw-"));

  private WholeFile() {}

  /** Writes to a path. */
  @FunctionalInterface
  interface Writer {
    /** Writes to it. */
    void write(Path file) throws IOException;
  }

  /** Whether it is a device or a pipe, or a link to one, where a text cannot replace another. */
  static boolean isStream(Path file) {
    return Files.exists(file) && !Files.isRegularFile(file);
  }

  /**
   * Writes a file, or what stands in its place: a device, a pipe or a link is written to. So is the
   * file itself if no other one can take its place.
   */
  static void write(Path file, Writer writer) throws IOException {
    if (isOther(file) || !replace(file, writer)) {
      writer.write(file);
    }
  }

  /** Whether something else than a file is there, such as a link to nothing. */
  private static boolean isOther(Path file) {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS)
        && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
  }

  /** Returns whether another file has taken its place. */
  private static boolean replace(Path file, Writer writer) throws IOException {
    Path part;
    try {
      part = newPart(file);
    } catch (IOException e) {
      return false;
    }
    part.toFile().deleteOnExit();
    try {
      writer.write(part);
      return move(part, file);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /** Its name ends as that of the file, which decides the form of a chart. */
  private static Path newPart(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    return Files.createTempFile(directory, ".part-", "-" + file.getFileName(), USUAL);
  }

  private static boolean move(Path part, Path file) {
    try {
      if (Files.exists(file)) {
        Files.setPosixFilePermissions(part, Files.getPosixFilePermissions(file));
      }
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}

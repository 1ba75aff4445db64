/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.ProcessUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The directory under which a datanode makes its own directory.
 *
 * @param path the directory
 * @param isDefault whether no configuration has named it
 */
public record DataPath(Path path, boolean isDefault) {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  /**
   * The directory that a configuration names.
   *
   * @param configured its path; when empty, the user's directory in memory, or one among the
   *     temporary files if the system has no directory in memory
   */
  public static DataPath of(String configured) {
    if (!configured.isEmpty()) {
      return new DataPath(Path.of(configured), false);
    }
    Path parent =
        Files.isDirectory(SHARED_MEMORY) && Files.isWritable(SHARED_MEMORY)
            ? SHARED_MEMORY
            : Path.of(System.getProperty("java.io.tmpdir"));
    // The number, since users without a name are different users too.
    return new DataPath(parent.resolve("crail-" + ProcessUser.idText()), true);
  }

  /** Removes a directory that no configuration has named, once no datanode uses it. */
  public void removeUnused() {
    if (isDefault) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        // Another datanode lives in it; the last one removes it.
      }
    }
  }
}

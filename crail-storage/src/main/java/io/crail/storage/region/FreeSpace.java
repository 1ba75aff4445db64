/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much can be stored in a directory. */
public final class FreeSpace {
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final Path MEMORY_INFO = Path.of("/proc/meminfo");

  private FreeSpace() {}

  /**
   * Bytes that files in an existing directory may take now: the free bytes of its file system, and
   * for a file system in memory no more than the machine could give without swapping.
   */
  public static long bytes(Path directory) throws IOException {
    // Not from a FileStore, which has to find a mount point and cannot in a changed root.
    long free = directory.toFile().getUsableSpace();
    // The size of a file system in memory is only a limit. The machine may have less memory.
    return isInMemory(directory) ? Math.min(free, availableMemory()) : free;
  }

  private static boolean isInMemory(Path directory) {
    if (directory.startsWith(MEMORY)) {
      return true;
    }
    try {
      return Files.getFileStore(directory).type().equals("tmpfs");
    } catch (IOException e) {
      return false;
    }
  }

  private static long availableMemory() throws IOException {
    if (Files.isReadable(MEMORY_INFO)) {
      for (String line : Files.readAllLines(MEMORY_INFO)) {
        if (line.startsWith("MemAvailable:")) {
          return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
      }
    }
    return Long.MAX_VALUE;
  }
}
